//! Delimiters between cells.

corpus! {
    comma_separated: "name,phone,city\nAda,+447400123456,Leeds\nBob,+447400123457,York\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada | city=Leeds
        3 | +447400123457 | ready | name=Bob | city=York
    ";
    tab_separated_with_empty_first_cells: "name\tphone\tcity\nAda\t+447400123456\tLeeds\n\t+447400123457\tYork\n", "" => "
        exit 0
        UTF-8, tab, header in line 1
        2 | +447400123456 | ready | name=Ada | city=Leeds
        3 | +447400123457 | ready | city=York
    ";
    pipe_delimited: "name|phone|tags\nAda|+447400123456|a,b;c\nBob|+447400123457|d\n", "" => "
        exit 0
        UTF-8, pipe, header in line 1
        2 | +447400123456 | ready | name=Ada | tags=a,b;c
        3 | +447400123457 | ready | name=Bob | tags=d
    ";
    decimal_commas_in_a_semicolon_file: "name;phone;fee\nAda;+447400123456;1,50\nBob;+447400123457;2,75\n", "" => "
        exit 0
        UTF-8, semicolon, header in line 1
        2 | +447400123456 | ready | name=Ada | fee=1,50
        3 | +447400123457 | ready | name=Bob | fee=2,75
    ";
    surname_comma_first_name_in_a_semicolon_file: "Name;Phone\nLovelace, Ada;+447400123456\nByron, Anne;+447400123457\n", "" => "
        exit 0
        UTF-8, semicolon, header in line 1
        2 | +447400123456 | ready | name=Lovelace, Ada
        3 | +447400123457 | ready | name=Byron, Anne
    ";
    tags_between_semicolons_in_a_comma_file: "phone,tags\n+447400123456,a;b;c\n+447400123457,d;e;f\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | tags=a;b;c
        3 | +447400123457 | ready | tags=d;e;f
    ";
    addresses_with_commas_in_quotes_in_a_tab_file: "phone\taddress\n+447400123456\t\"1 High St, Leeds, UK\"\n+447400123457\t\"2 High St, York, UK\"\n", "" => "
        exit 0
        UTF-8, tab, header in line 1
        2 | +447400123456 | ready | address=1 High St, Leeds, UK
        3 | +447400123457 | ready | address=2 High St, York, UK
    ";
    everything_in_quotes: "\"Name\";\"Phone\"\r\n\"Ada \"\"the Countess\"\"\";\"+447400123456\"\r\n\"Bob; Cy\";\"+447400123457\"\r\n", "" => "
        exit 0
        UTF-8, semicolon, header in line 1
        2 | +447400123456 | ready | name=Ada \"the Countess\"
        3 | +447400123457 | ready | name=Bob; Cy
    ";
    crm_export_with_sep_line: "sep=;\r\nname;phone\r\nAda;+447400123456\r\n", "" => "
        exit 0
        UTF-8, semicolon, header in line 2
        3 | +447400123456 | ready | name=Ada
    ";
    sep_line_behind_a_mark: "\u{FEFF}sep=|\nname|phone\nAda|+447400123456\n", "" => "
        exit 0
        UTF-8, mark, pipe, header in line 2
        3 | +447400123456 | ready | name=Ada
    ";
    sep_line_in_quotes: "\"sep=,\"\nname,phone\nAda,+447400123456\n", "" => "
        exit 0
        UTF-8, comma, header in line 2
        3 | +447400123456 | ready | name=Ada
    ";
    sep_line_in_utf_16: super::utf_16le("\u{FEFF}sep=\t\r\nname\tphone\r\nAda\t+447400123456\r\n"), "" => "
        exit 0
        UTF-16LE, mark, tab, header in line 2
        3 | +447400123456 | ready | name=Ada
    ";
    one_column_list: "phone\n+447400123456\n+447400123457\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +447400123457 | ready
    ";
    delimiter_named_where_it_is_an_unusual_one: "name^phone\nAda^+447400123456\n", "--delimiter ^" => "
        exit 0
        UTF-8, ^, header in line 1
        2 | +447400123456 | ready | name=Ada
    ";
    delimiter_named_against_the_usual_one: "na,me;phone\nA,da;+447400123456\n", "--delimiter ;" => "
        exit 0
        UTF-8, semicolon, header in line 1
        2 | +447400123456 | ready | na_me=A,da
    ";
    unquoted_quotes_in_the_middle_of_a_cell: "phone,note\n+447400123456,a 12\" disc\n+447400123457,Ada \"the Countess\" King\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | note=a 12\" disc
        3 | +447400123457 | ready | note=Ada \"the Countess\" King
    ";
    header_without_rows: "name;phone\n", "" => "
        exit 0
        UTF-8, semicolon, header in line 1
    ";
    emails_with_a_delimiter_that_is_in_no_quotes: "email;phone;optin\nada@example.com;+447400123456;yes, please\nbob@example.com;+447400123457;no\n", "" => "
        exit 0
        UTF-8, semicolon, header in line 1
        2 | +447400123456 | ready | email=ada@example.com
        3 | +447400123457 | suppressed
    ";
    two_numbers_with_commas_in_a_semicolon_file: "name;phone\nAda;+447400123456, +447400123457\nBob;+447400123458, +447400123459\n", "" => "
        exit 1
        UTF-8, semicolon, header in line 1
        note: column 2 (`phone`) holds few phone numbers
        2 | '+447400123456, +447400123457 | invalid phone_ambiguous
        3 | '+447400123458, +447400123459 | invalid phone_ambiguous
    ";
}

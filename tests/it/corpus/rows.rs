//! The shapes of rows: too long, too short, torn, blank.

fn with_a_long_cell() -> String {
    format!(
        "phone,note\n+447400123456,{}\n+447400123457,short\n",
        "x".repeat(500_000)
    )
}

corpus! {
    trailing_delimiters_in_every_row: "phone,name\n+447400123456,Ada,,\n+447400123457,Bob, ,\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | ready | name=Bob
    ";
    header_ends_in_a_delimiter_and_rows_do_not: "phone;name;\n+447400123456;Ada\n+447400123457;Bob\n", "" => "
        exit 0
        UTF-8, semicolon, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | ready | name=Bob
    ";
    comma_in_an_address_and_an_empty_last_cell: "name,phone,city,note\nN0,+447400123450,Portland, OR,\nN1,+447400123451,Portland, OR,\nN2,+447400123452,Bonn,\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123450 | invalid field_count
        3 | +447400123451 | invalid field_count
        4 | +447400123452 | ready | name=N2 | city=Bonn
    ";
    comma_in_the_address_of_the_only_row: "name,phone,city,note\nBob,+447400123450,Leeds, West,\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123450 | invalid field_count
    ";
    comma_in_an_address_below_a_header_that_ends_in_a_delimiter: "name,phone,city,state,\nBob,+447400123450,Leeds, West,S\nNed,+447400123451,York,N,\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123450 | invalid field_count
        3 | +447400123451 | ready | name=Ned | city=York | state=N
    ";
    rejects_that_have_lost_a_column: "phone,name,leadload_row,leadload_status,leadload_error,leadload_run\n+447400123456,Ada,1,invalid,x,\n", "" => "
        exit 2
        `leads.csv` has rejects, but no longer the column `leadload_error_code`
    ";
    rows_that_stop_before_their_empty_cells: "phone,name,city\n+447400123456,Ada,Leeds\n+447400123457\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada | city=Leeds
        3 | +447400123457 | invalid field_count
    ";
    rows_with_a_cell_too_many: "phone,name,city\n+447400123456,Ada,Leeds\n+447400123457,Oak, Bob,York\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada | city=Leeds
        3 | +447400123457 | invalid field_count
    ";
    blank_and_white_space_lines_between_rows: "\n\r\nphone,name\n\n+447400123456,Ada\n  \t \n\n+447400123457,Bob\n\n\n", "" => "
        exit 0
        UTF-8, comma, header in line 3
        5 | +447400123456 | ready | name=Ada
        8 | +447400123457 | ready | name=Bob
    ";
    rows_of_nothing_but_delimiters_at_the_end: "phone,name\n+447400123456,Ada\n,\n,\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
    ";
    newlines_in_quoted_cells_mixed_with_crlf: "phone,address,name\r\n+447400123456,\"1 High St\nLeeds\",Ada\r\n+447400123457,\"2 High St\r\nYork\",Bob\n+447400123458,x,Cy\r", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | address=1 High St\\nLeeds | name=Ada
        4 | +447400123457 | ready | address=2 High St\\r\\nYork | name=Bob
        6 | +447400123458 | ready | address=x | name=Cy
    ";
    quote_never_closed_in_the_middle: "phone,name,city\n+447400123456,Ada,Leeds\n+447400123457,\"Bob,York\n+447400123458,Cy,Hull\n+447400123459,Di,Bath\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada | city=Leeds
        3 | +447400123457 | invalid unclosed_quote
        4 | +447400123458 | ready | name=Cy | city=Hull
        5 | +447400123459 | ready | name=Di | city=Bath
    ";
    quote_that_a_later_row_closes: "phone,name,city\n+447400123456,\"Ada,Leeds\n+447400123457,Bob,York\n+447400123458,\"Cy\",Hull\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | invalid unclosed_quote
        3 | +447400123457 | ready | name=Bob | city=York
        4 | +447400123458 | ready | name=Cy | city=Hull
    ";
    quote_never_closed_in_the_last_row: "phone,name\n+447400123456,Ada\n+447400123457,\"Bob", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | invalid unclosed_quote
    ";
    inch_sign_at_the_beginning_of_a_cell: "phone,size,name\n+447400123456,\"12 inch,Ada\n+447400123457,10 inch,Bob\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | invalid unclosed_quote
        3 | +447400123457 | ready | size=10 inch | name=Bob
    ";
    text_behind_a_closing_quote: "phone,name\n+447400123456,\"Ada\" King\n+447400123457,Bob\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada King
        3 | +447400123457 | ready | name=Bob
    ";
    spaces_before_quotes_are_text: "phone, name\n+447400123456, \"King, Ada\"\n+447400123457, Bob\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | invalid field_count
        3 | +447400123457 | ready | name= Bob
    ";
    quoted_first_line: "\"All contacts, 2026\"\nname,phone\nAda,+447400123456\n", "" => "
        exit 0
        UTF-8, comma, header in line 2
        3 | +447400123456 | ready | name=Ada
    ";
    title_line_above_the_header: "Contacts\nphone,name\n+447400123456,Ada\n", "" => "
        exit 0
        UTF-8, comma, header in line 2
        3 | +447400123456 | ready | name=Ada
    ";
    title_line_above_what_may_be_a_header: "Contacts\nphone,name\nx,Ada\n", "" => "
        exit 2
        no column of `leads.csv` looks like a phone number
    ";
    ragged_first_line: "Contacts; all of them\nname;phone;city\nAda;+447400123456;Leeds\n", "" => "
        exit 0
        UTF-8, semicolon, header in line 2
        3 | +447400123456 | ready | name=Ada | city=Leeds
    ";
    title_line_above_the_header_of_many_rows: format!("My contacts\nphone,name\n{}", "+447400123456,Ada\n".repeat(30)), "--limit 2" => "
        exit 0
        UTF-8, comma, header in line 2
        3 | +447400123456 | ready | name=Ada
        4 | +447400123456 | repeated
    ";
    very_long_cell: with_a_long_cell(), "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | note=<500000 characters>
        3 | +447400123457 | ready | note=short
    ";
    cr_only_with_blank_lines: "phone,name\r\r+447400123456,Ada\r+447400123457,Bob", "" => "
        exit 0
        UTF-8, comma, header in line 1
        3 | +447400123456 | ready | name=Ada
        4 | +447400123457 | ready | name=Bob
    ";
    repeated_after_normalising: "phone\n+44 7400 123456\n07400123456\n0044 (0)7400-123456\n+447400123457\n", "--region GB" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +447400123456 | repeated
        4 | +447400123456 | repeated
        5 | +447400123457 | ready
    ";
    repeated_but_allowed: "phone\n+447400123456\n+44 7400 123456\n", "--allow-duplicates" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +447400123456 | ready
    ";
    only_the_first_rows: "phone\nx\n+447400123456\n+447400123457\n", "--limit 2" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | x | invalid phone_not_e164
        3 | +447400123456 | ready
    ";
    quote_in_the_header_that_is_never_closed: "phone,\"name\n+447400123456,Ada\n+447400123457,Bob\n", "" => "
        exit 2
        the header of `leads.csv` (line 1) has a quote (\") that is never closed
    ";
    nothing_at_all: "", "" => "
        exit 2
        `leads.csv` is empty
    ";
    nothing_but_a_mark: "\u{FEFF}\r\n", "" => "
        exit 2
        `leads.csv` is empty
    ";
}

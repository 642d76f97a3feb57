//! Names of columns, and lists without column names.

corpus! {
    header_in_german: "Handynummer;Größe\n+491717654321;1,80\n", "" => "
        exit 0
        UTF-8, semicolon, header in line 1
        2 | +491717654321 | ready | größe=1,80
    ";
    header_in_russian: "ИМЯ;МОБИЛЬНЫЙ ТЕЛЕФОН\nИван;+79123456789\n", "" => "
        exit 0
        UTF-8, semicolon, header in line 1
        2 | +79123456789 | ready | имя=Иван
    ";
    header_in_japanese: "お名前,お電話番号\n佐藤,+819012345678\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +819012345678 | ready | お名前=佐藤
    ";
    header_in_arabic_with_marks_of_direction: "الاسم,\u{200F}رقم الهاتف\u{200F}\nمحمد,+966501234567\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +966501234567 | ready | الاسم=محمد
    ";
    header_in_vietnamese: "Họ tên,Số điện thoại\nNguyễn,+84912345678\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +84912345678 | ready | họ_tên=Nguyễn
    ";
    header_in_vietnamese_decomposed: "Ho\u{323} te\u{302}n,So\u{302}\u{301} đie\u{323}\u{302}n thoa\u{323}i\nNguyen,+84912345678\n", "--var name=1" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +84912345678 | ready | name=Nguyen
    ";
    header_in_capitals_with_spaces_around: "NAME,  PHONE NUMBER  ,First-Name (short)\nAda,+447400123456,A\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada | first_name_short=A
    ";
    header_of_two_lines_in_quotes: "name,\"Phone\nnumber\"\nAda,+447400123456\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        3 | +447400123456 | ready | name=Ada
    ";
    header_in_quotes_behind_a_mark: "\u{FEFF}\"phone\",\"name\"\n\"+447400123456\",\"Ada\"\n", "" => "
        exit 0
        UTF-8, mark, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
    ";
    duplicate_headers: "phone,Name,name\n+447400123456,Ada,King\n", "" => "
        exit 2
        the variable `name` would come from column 2 (`Name`) and from column 3 (`name`) in `leads.csv`
    ";
    duplicate_headers_of_which_one_is_skipped: "phone,Name,name\n+447400123456,Ada,King\n", "--skip-column 3" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
    ";
    empty_header_cells: "phone,, ,name\n+447400123456,a,b,Ada\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
    ";
    empty_header_cells_that_are_named: "phone,,name\n+447400123456,a,Ada\n", "--var code=2 --var name" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | code=a | name=Ada
    ";
    data_beats_header_and_it_is_said: "Phone,Contact\niPhone 12,+447400123456\nNokia 3310,+447400123457\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        note: column 1 (`Phone`) holds few phone numbers, so column 2 (`Contact`) is used, which holds many
        2 | +447400123456 | ready | phone=iPhone 12
        3 | +447400123457 | ready | phone=Nokia 3310
    ";
    data_beats_header: "Phone,Kontakt\niPhone 12,+447400123456\nNokia 3310,+447400123457\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        note: column 1 (`Phone`) holds few phone numbers, so column 2 (`Kontakt`) is used, which holds many
        2 | +447400123456 | ready | phone=iPhone 12
        3 | +447400123457 | ready | phone=Nokia 3310
    ";
    phone_column_named_against_the_data: "Phone,Contact\niPhone 12,+447400123456\n", "--phone-column Phone" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | iPhone 12 | invalid phone_not_e164
    ";
    header_that_says_nothing: "a,b,c\nAda,+447400123456,2026-11-21\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        note: no header says phone, so column 2 (`b`) is used: its cells look like phone numbers; if the first line is a contact already, say --no-header
        2 | +447400123456 | ready | a=Ada | c=2026-11-21
    ";
    no_phone_anywhere: "name,city\nAda,Leeds\n", "" => "
        exit 2
        no column of `leads.csv` looks like a phone number
    ";
    first_contact_without_a_number: "bob@example.com,n/a\nal@example.com,+447400123456\n", "" => "
        exit 2
        the first row of `leads.csv` (line 1) looks like a contact, not like column headers
    ";
    phone_and_mobile_both_filled: "phone,mobile\n+442079460000,+447400123456\n", "" => "
        exit 2
        2 columns of `leads.csv` have phone numbers: column 1 (`phone`) in 1 row, column 2 (`mobile`) in 1 row
    ";
    phone_and_mobile_in_an_order: "phone,mobile\n+442079460000,+447400123456\n+442079460001,\n", "--phone-column mobile --phone-column phone" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +442079460001 | ready
    ";
    outlook_contacts_with_only_mobiles: "First Name,Business Phone,Home Phone,Mobile Phone,Business Fax\nAda,,,+447400123456,\nBob,,,+447400123457,\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | first_name=Ada
        3 | +447400123457 | ready | first_name=Bob
    ";
    fax_beside_the_phone: "Phone,Fax,Phone verified\n+442079460000,+442079460001,yes\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +442079460000 | ready | fax=+442079460001 | phone_verified=yes
    ";
    order_numbers_beside_the_phone: "Order number,Phone,Date\n4474001234,+447400123456,21.11.2026\n4474001235,+447400123457,22.11.2026\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | order_number=4474001234 | date=21.11.2026
        3 | +447400123457 | ready | order_number=4474001235 | date=22.11.2026
    ";
    no_header_list_with_flag: "Ada,+447400123456,Leeds\nBob,+447400123457,York\n", "--no-header" => "
        exit 0
        UTF-8, comma, no header
        note: column 2 is used: its cells look like phone numbers
        1 | +447400123456 | ready | 1=Ada | 3=Leeds
        2 | +447400123457 | ready | 1=Bob | 3=York
    ";
    no_header_list_with_flag_and_names: "\nAda;07400 123456\nBob;07400 123457\n", "--no-header --region GB --phone-column 2 --var name=1" => "
        exit 0
        UTF-8, semicolon, no header
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | ready | name=Bob
    ";
    no_header_list_without_flag: "Ada,+447400123456\nBob,+447400123457\n", "" => "
        exit 2
        the first row of `leads.csv` (line 1) looks like a contact, not like column headers
    ";
    no_header_list_without_flag_in_national_form: "Ada,7400 123456\nBob,7400 123457\n", "--region GB --phone-column 2" => "
        exit 2
        the first row of `leads.csv` (line 1) looks like a contact, not like column headers
    ";
    no_header_list_of_numbers_alone: "+447400123456\n+447400123457\n", "--no-header" => "
        exit 0
        UTF-8, comma, no header
        note: column 1 is used: its cells look like phone numbers
        1 | +447400123456 | ready
        2 | +447400123457 | ready
    ";
    columns_chosen_and_renamed: "Phone,First Name,City,Notes\n+447400123456,Ada,Leeds,secret\n", "--var first=2 --var City --set source=fair" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | first=Ada | city=Leeds | source=fair
    ";
    empty_cells_left_out_or_sent: "phone,name,city\n+447400123456,,Leeds\n+447400123457, ,York\n", "--empty send" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name= | city=Leeds
        3 | +447400123457 | ready | name= | city=York
    ";
    column_that_is_not_there: "phone,name\n+447400123456,Ada\n", "--var nmae" => "
        exit 2
        `--var nmae` names no column of `leads.csv`
    ";
}

//! Ways of writing phone numbers in cells.

corpus! {
    zero_in_brackets: "phone\n+44 (0)7400 123456\n+44(0)20 7946 0000\n+49 (0) 30 901820\n+39 (0)6 698 82022\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +442079460000 | ready
        4 | +4930901820 | ready
        5 | +390669882022 | ready
    ";
    double_zero_and_011: "phone\n0044 7400 123456\n00 1 212 555 0123\n011 44 7400 123457\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +12125550123 | ready
        4 | +447400123457 | ready
    ";
    trunk_zero_left_in: "phone\n+4407400123456\n+49 030 901820\n+390669882022\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +4930901820 | ready
        4 | +390669882022 | ready
    ";
    tel_links_and_labels: "phone\ntel:+44-7400-123456\nTel. +44 7400 123457\nTEL:+447400123458\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +447400123457 | ready
        4 | +447400123458 | ready
    ";
    apostrophes_and_formulas_for_text: "phone;name\n'+447400123456;Ada\n=\"07400123457\";Bob\n\"=\"\"+447400123458\"\"\";Cy\n", "--region GB" => "
        exit 0
        UTF-8, semicolon, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | ready | name=Bob
        4 | +447400123458 | ready | name=Cy
    ";
    no_break_and_thin_spaces: "phone\n+44\u{A0}7400\u{A0}123456\n+44\u{202F}7400\u{202F}123457\n+44\u{2009}7400\u{2009}123458\n+44\u{2007}7400\u{2007}123459\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +447400123457 | ready
        4 | +447400123458 | ready
        5 | +447400123459 | ready
    ";
    thin_spaces_in_every_number: "Phone\n+33\u{2009}6\u{2009}12\u{2009}34\u{2009}56\u{2009}78\n+33\u{2009}6\u{2009}12\u{2009}34\u{2009}56\u{2009}79\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +33612345678 | ready
        3 | +33612345679 | ready
    ";
    marks_of_direction_from_a_phone_book: "phone\n\u{202A}+44 7400 123456\u{202C}\n\u{200E}+447400123457\n+44\u{200B}7400123458\n", "--phone-column 1" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +447400123457 | ready
        4 | +447400123458 | ready
    ";
    full_width_digits: "電話番号\n＋８１９０１２３４５６７８\n０９０－１２３４－５６７９\n", "--region JP --phone-column 1" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +819012345678 | ready
        3 | +819012345679 | ready
    ";
    arabic_indic_and_persian_digits: "الاسم,رقم الهاتف\nمحمد,٠٥٠١٢٣٤٥٦٧\nعلي,+۹۸۹۱۲۳۴۵۶۷۸۹\n", "--region SA --phone-column 2" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +966501234567 | ready | الاسم=محمد
        3 | +989123456789 | ready | الاسم=علي
    ";
    arabic_indic_digits_beside_order_numbers: "الاسم,رقم الهاتف,order\nمحمد,٠٥٠١٢٣٤٥٦٧,0044740012\nعلي,٠٥٠١٢٣٤٥٦٨,0044740013\n", "--region SA" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +966501234567 | ready | الاسم=محمد | order=0044740012
        3 | +966501234568 | ready | الاسم=علي | order=0044740013
    ";
    marks_of_direction_in_every_number: "phone\n\u{202A}+44 7400 123456\u{202C}\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
    ";
    full_width_digits_in_every_number: "電話番号\n＋８１９０１２３４５６７８\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +819012345678 | ready
    ";
    damaged_by_a_spreadsheet: "phone;name\n4.47912E+11;Ada\n4,47912E+11;Bob\n#REF!;Cy\n+447400123456;Di\n", "--region GB" => "
        exit 1
        UTF-8, semicolon, header in line 1
        2 | 4.47912E+11 | invalid phone_damaged
        3 | 4,47912E+11 | invalid phone_damaged
        4 | #REF! | invalid phone_damaged
        5 | +447400123456 | ready | name=Di
    ";
    trailing_point_zero_of_data_frames: "phone,id\n447400123456.0,1.0\n7400123457.0,2.0\n+447400123458.0,3.0\n", "--region GB" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready | id=1.0
        3 | +447400123457 | ready | id=2.0
        4 | +447400123458 | ready | id=3.0
    ";
    two_numbers_in_one_cell: "phone\n+447400123456 / +447400123457\n07400 123456 or 07400 123457\n+447400123458\n+447400123459 / +447400123459\n+447400123460\n", "--region GB --phone-column 1" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | '+447400123456 / +447400123457 | invalid phone_ambiguous
        3 | 07400 123456 or 07400 123457 | invalid phone_ambiguous
        4 | +447400123458 | ready
        5 | +447400123459 | ready
        6 | +447400123460 | ready
    ";
    extensions: "phone\n+44 20 7946 0000 ext 12\n+44 20 7946 0001 x3\n+44 20 7946 0002\n+44 20 7946 0003\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | '+44 20 7946 0000 ext 12 | invalid phone_not_e164
        3 | '+44 20 7946 0001 x3 | invalid phone_not_e164
        4 | +442079460002 | ready
        5 | +442079460003 | ready
    ";
    letters_and_placeholders: "phone,name\nN/A,Ada\n1-800-FLOWERS,Bob\n+447400123456 (home),Cy\n-,Di\n ,Ed\n+447400123457,Flo\n+447400123458,Gus\n+447400123459,Hal\n+447400123460,Ida\n", "--region US" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | N/A | invalid phone_not_e164
        3 | 1-800-FLOWERS | invalid phone_not_e164
        4 | '+447400123456 (home) | invalid phone_not_e164
        5 | - | invalid phone_missing
        6 |   | invalid phone_missing
        7 | +447400123457 | ready | name=Flo
        8 | +447400123458 | ready | name=Gus
        9 | +447400123459 | ready | name=Hal
        10 | +447400123460 | ready
    ";
    digits_without_plus: "phone\n447400123456\n07400123457\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | 447400123456 | invalid phone_not_e164
        3 | 07400123457 | invalid phone_not_e164
    ";
    digits_without_plus_of_a_region: "phone\n447400123456\n07400123457\n7400123458\n12125550123\n", "--region GB" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | +447400123457 | ready
        4 | +447400123458 | ready
        5 | 12125550123 | invalid phone_impossible
    ";
    digits_without_plus_that_are_assumed_to_have_it: "phone\n447400123456\n07400123457\n12125550123\n", "--assume-plus" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +447400123456 | ready
        3 | 07400123457 | invalid phone_not_e164
        4 | +12125550123 | ready
    ";
    formulas_that_would_run_in_the_results: "phone,name\n=cmd,Ada\n@x,Bob\n+447400123456,Cy\n+447400123457,Di\n", "" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | '=cmd | invalid phone_not_e164
        3 | '@x | invalid phone_not_e164
        4 | +447400123456 | ready | name=Cy
        5 | +447400123457 | ready | name=Di
    ";
    american_numbers_in_brackets: "Cell Phone,name\n(212) 555-0123,Ada\n212.555.0124,Bob\n1-212-555-0125,Cy\n555-0123,Di\n", "--region US" => "
        exit 1
        UTF-8, comma, header in line 1
        2 | +12125550123 | ready | name=Ada
        3 | +12125550124 | ready | name=Bob
        4 | +12125550125 | ready | name=Cy
        5 | 555-0123 | invalid phone_impossible
    ";
}

//! A region for the whole list is not used if the list contradicts it.

use crate::util::{Folder, Output, scenario, seen, service};

/// British numbers in use, as they are written in Britain; counted from 0.
fn british(count: usize) -> String {
    let rows = 0..count;
    let rows = rows.map(|i| format!("Ada {i},07911 1{:05}\n", 10_000 + i));
    rows.collect()
}

/// Numbers written as in North America that are also in use in London; counted from 0.
fn american(count: usize) -> String {
    let rows = 0..count;
    rows.map(|i| format!("Bob {i},(203) 555-01{i:02}\n"))
        .collect()
}

/// Numbers with their calling code, counted from 0.
fn international(count: usize) -> String {
    let rows = 0..count;
    let rows = rows.map(|i| format!("Cy {i},+49 30 23125 1{i:02}\n"));
    rows.collect()
}

/// Imports a list with `--region GB`. Returns how many leads there are then, too.
#[track_caller]
fn import(list: &str, flags: &[&str], code: i32) -> (Folder, Output, usize) {
    let folder = Folder::with_leads(&format!("name,phone\n{list}"));
    let service = scenario("keep_bodies = true");
    let args = [&["--region", "GB"], flags].concat();
    let output = folder.import_leads(&service, &args).expect(code);
    let sent = seen(&service).len();
    (folder, output, sent)
}

/// How many rows of the results have this error code.
fn with_code(folder: &Folder, code: &str) -> usize {
    let codes = folder.column("leads.results.csv", "error_code");
    codes.iter().filter(|found| *found == code).count()
}

#[test]
fn many_doubtful_numbers_end_with_exit_2_before_anything_is_sent() {
    for flags in [&[][..], &["--yes"]] {
        let (folder, output, sent) = import(&(american(4) + &british(10)), flags, 2);
        assert_eq!(sent, 0);
        assert_eq!(output.stdout, "");
        assert_eq!(folder.names(), ["leads.csv"]);
        output.tells("4 of 14 numbers");
        output.tells("`--region GB`");
        output.tells("lines 2, 3, 4)");
        output.tells("United States (4 of 4)");
        output.tells("use `--region US`");
        output.tells("`--phone-rule possible`");
        output.tells("`--region-column`");
    }
    let list = american(4) + &british(10);
    let (_, output, _) = import(&list, &["--format", "json"], 2);
    let countries = &output.json()["countries"];
    assert_eq!(
        (&countries["region"], &countries["doubtful"]),
        (&"GB".into(), &4.into())
    );
}

#[test]
fn the_answers_that_the_error_names_send_the_list() {
    let list = american(4);
    assert_eq!(import(&list, &["--phone-rule", "possible"], 0).2, 4);
    let folder = Folder::with_leads(&format!("name,phone\n{list}"));
    let service = scenario("keep_bodies = true");
    let american = ["--region", "US"];
    folder.import_leads(&service, &american).expect(0);
    let phones: Vec<String> = seen(&service).into_iter().map(|lead| lead.phone).collect();
    assert_eq!(phones[0], "+12035550100");
}

#[test]
fn a_few_doubtful_numbers_are_held_back_and_the_others_are_sent() {
    // Four of nine numbers that are completed, and more than a fifth of 19 in all.
    let list = american(4) + &british(5) + &international(9) + "Di,+447911199999\n";
    let (folder, output, sent) = import(&list, &[], 2);
    assert_eq!((sent, folder.names().len()), (0, 1), "{}", output.stderr);
    // Less than a fifth of 21.
    let list = list + "Ed,+447911199998\nFlo,+447911199997\n";
    let (folder, output, sent) = import(&list, &[], 1);
    assert_eq!(sent, 17);
    assert_eq!(with_code(&folder, "phone_doubtful"), 4);
    output.shows("phone_doubtful: 4 rows, the first in lines 2, 3, 4");
    assert_eq!(folder.records("leads.rejects.csv").len(), 4);
}

#[test]
fn a_row_whose_first_number_is_held_back_is_called_at_its_next() {
    let mut list = "name,phone,mobile\n".to_owned();
    for at in 0..4 {
        list += &format!("A{at},(203) 555-010{at},+44791100010{at}\n");
    }
    for at in 10..40 {
        list += &format!("B{at},+4420794600{at},\n");
    }
    let folder = Folder::with_leads(&list);
    let service = scenario("keep_bodies = true");
    let columns = ["--phone-column", "phone", "--phone-column", "mobile"];
    let flags = [&columns[..], &["--region", "GB"]].concat();
    folder.import_leads(&service, &flags).expect(0);
    let sent: Vec<String> = seen(&service).into_iter().map(|lead| lead.phone).collect();
    assert_eq!(sent.len(), 34);
    assert_eq!(sent[..2], ["+447911000100", "+447911000101"]);
}

#[test]
fn fewer_than_three_or_no_more_than_a_fifth_are_sent() {
    assert_eq!(import(&american(2), &[], 0).2, 2);
    // Three of fifteen are exactly a fifth, and not more.
    assert_eq!(import(&(american(3) + &british(12)), &[], 0).2, 15);
    assert_eq!(import(&(american(3) + &british(11)), &[], 2).2, 0);
}

#[test]
fn numbers_in_no_range_in_use_are_doubtful() {
    let fiction: String = (0..3).map(|i| format!("Ada,07700 90010{i}\n")).collect();
    let (_, output, _) = import(&fiction, &[], 2);
    output.tells("(lines 2, 3, 4)");
    // A spreadsheet has dropped the zero, which is no sign of another country.
    let eaten: String = (0..5).map(|i| format!("Ada,791112345{i}\n")).collect();
    assert_eq!(import(&eaten, &[], 0).2, 5);
}

#[test]
fn digits_that_begin_with_the_calling_code_of_the_region_are_completed_by_it_too() {
    let mut list = String::new();
    for at in 0..4 {
        list += &format!("A{at},1381234560{at}\n");
    }
    let folder = Folder::with_leads(&format!("name,phone\n{list}"));
    let flags = ["leads.csv", "--region", "US"];
    let output = folder.import(&service(), &[&flags[..], &["--campaign", "101"]].concat());
    output.expect(2).tells("4 of 4 numbers");
    let check = [&["check"][..], &flags, &["--format", "json"]].concat();
    let found = folder.leadload(&check).expect(2).json();
    assert_eq!(found["countries"]["completed"][0]["not_in_use"], 4);
    // Numbers of the region that are in use confirm the region.
    let own = "A,447911000001\nB,447911000002\n".to_owned() + &international(3);
    assert_eq!(import(&own, &[], 0).2, 5);
}

#[test]
fn a_list_whose_numbers_with_calling_codes_are_all_of_other_countries_speaks_against_the_region() {
    let (_, output, _) = import(&(british(3) + &international(3)), &[], 2);
    output.tells("3 numbers");
    output.tells("(lines 2, 3, 4)");
    // One number of the region is enough.
    let list = british(3) + &international(3) + "Di,+447911199999\n";
    assert_eq!(import(&list, &[], 0).2, 7);
    assert_eq!(import(&(british(3) + &international(2)), &[], 0).2, 5);
}

#[test]
fn an_empty_country_among_those_that_agree_on_another_is_doubtful() {
    let list = |others: &str| {
        format!(
            "name,phone,country\n{others}Ada,07911 123456,\nBob,07911 123457,\nCy,07911 123458,\n"
        )
    };
    let folder = Folder::with_leads(&list("Di,030 23125123,Germany\nEd,030 23125124,DE\n"));
    let service = scenario("keep_bodies = true");
    let output = folder.import_leads(&service, &["--region", "GB"]).expect(2);
    output.tells("Germany");
    folder.write(
        "leads.csv",
        list("Di,030 23125123,Germany\nEd,07911 123459,UK\n"),
    );
    folder.import_leads(&service, &["--region", "GB"]).expect(0);
    assert_eq!(seen(&service).len(), 5);
}

#[test]
fn a_check_prints_what_it_found_and_ends_with_2() {
    let folder = Folder::with_leads(&format!("name,phone\n{}", american(4)));
    let check = ["check", "leads.csv", "--region", "GB"];
    let output = folder.leadload(&check).expect(2);
    output.shows("phone_doubtful: 4 rows");
    output.shows("4 numbers");
    output.tells("4 of 4 numbers");
    let object = folder.leadload(&[&check[..], &["--format", "json"]].concat());
    let object = object.expect(2).json();
    assert_eq!(object["exit_code"], 2);
    assert_eq!(object["stopped_by"], "usage");
    assert_eq!(object["complete"], false);
    assert_eq!(object["counts"]["invalid"], 4);
    assert_eq!(object["countries"]["doubtful"], 4);
    assert_eq!(object["countries"]["completed"][0]["numbers"], 4);
    assert_eq!(object["countries"]["completed"][0]["not_written_so"], 4);
}

#[test]
fn a_few_lists_are_judged_one_by_one_and_together() {
    let folder = Folder::new();
    folder.write("gb.csv", format!("name,phone\n{}", british(40)));
    folder.write("us.csv", format!("name,phone\n{}", american(3)));
    let service = scenario("keep_bodies = true");
    let args = ["gb.csv", "us.csv", "--campaign", "101", "--region", "GB"];
    let output = folder.import(&service, &args).expect(2);
    output.tells("3 of 43 numbers");
    output.tells("`us.csv` 3 ");
    // Two in each list: together at least three.
    folder.write("gb.csv", format!("name,phone\n{}", american(2)));
    folder.write(
        "us.csv",
        format!("name,phone\n{}", "X,(204) 555-0101\nY,(204) 555-0102\n"),
    );
    folder.import(&service, &args).expect(2);
    assert_eq!(seen(&service).len(), 0);
}

#[test]
fn a_doubtful_number_in_rejects_stays_doubtful_until_it_is_fixed() {
    let list = american(3) + &british(4) + &international(10) + "Di,+447911199999\n";
    let folder = Folder::with_leads(&format!("name,phone\n{list}"));
    let service = scenario("keep_bodies = true");
    folder.import_leads(&service, &["--region", "GB"]).expect(1);
    assert_eq!(seen(&service).len(), 15);
    let again = ["leads.rejects.csv", "--campaign", "101"];
    let left = folder.read("leads.rejects.csv");
    // Two rows alone would be too few for the rule.
    let two: Vec<&str> = left.lines().take(3).collect();
    folder.write("leads.rejects.csv", two.join("\n") + "\n");
    folder.import(&service, &again).expect(1);
    assert_eq!(seen(&service).len(), 15);
    let left = folder.read("leads.rejects.csv");
    folder.write("leads.rejects.csv", left.replace("(203)", "+1 203"));
    folder.import(&service, &again).expect(0);
    let sent = seen(&service).into_iter().skip(15);
    let phones: Vec<String> = sent.map(|lead| lead.phone).collect();
    assert_eq!(phones, ["+12035550100", "+12035550101"]);
}

#[test]
fn a_run_goes_on_with_the_same_numbers_held_back() {
    let list = american(3) + &british(4) + &international(10) + "Di,+447911199999\n";
    let folder = Folder::with_leads(&format!("name,phone\n{list}"));
    let service = scenario("keep_bodies = true\ntoken_revoked_after = 5");
    let args = ["--region", "GB", "--format", "json"];
    folder.import_leads(&service, &args).expect(3);
    let service = crate::util::replaced(service, "keep_bodies = true");
    let found = folder.import_leads(&service, &args).expect(1).json();
    assert_eq!(found["run"], 1);
    assert_eq!(found["counts"]["created"], 15);
    assert_eq!(with_code(&folder, "phone_doubtful"), 3);
    // With a phone rule it is another run, and the rows are sent.
    let rule = [&args[..], &["--phone-rule", "possible"]].concat();
    let found = folder.import_leads(&service, &rule).expect(0).json();
    assert_eq!(found["run"], 2);
    assert_eq!(found["counts"]["created"], 3);
}

#[test]
fn a_list_of_which_nearly_all_numbers_are_impossible_there_is_of_another_country() {
    let german = |count: usize| -> String {
        (0..count)
            .map(|i| format!("Di,0171 39200{i:02}1\n"))
            .collect()
    };
    let (_, output, sent) = import(&(british(3) + &german(12)), &[], 2);
    assert_eq!(sent, 0);
    output.tells("12 other");
    assert_eq!(import(&(british(3) + &german(9)), &[], 1).2, 3);
    assert_eq!(import(&(british(4) + &german(12)), &[], 1).2, 4);
}

#[test]
fn a_country_in_a_column_that_holds_few_speaks_against_the_region_all_the_same() {
    let rows = |country: &str, from: usize| -> String {
        (from..from + 4)
            .map(|i| format!("Ada,07911 1234{i:02},{country}\n"))
            .collect()
    };
    let list = rows("North", 10) + &rows("South", 20) + &rows("Germany", 30);
    let folder = Folder::with_leads(&format!("name,phone,country\n{list}"));
    let service = scenario("keep_bodies = true");
    let output = folder.import_leads(&service, &["--region", "GB"]).expect(2);
    output.tells("lines 10, 11, 12)");
    folder.write(
        "leads.csv",
        folder.read("leads.csv").replace("Germany", "UK"),
    );
    folder.import_leads(&service, &["--region", "GB"]).expect(0);
    assert_eq!(seen(&service).len(), 12);
}

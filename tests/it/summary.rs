//! What a person reads at the end of an import: exact texts.

use leadload::sandbox::Sandbox;

use crate::util::{Folder, Output, holds_a_number, number, scenario, service};

/// The summary without its time, and with the usual name of the program.
fn summary(output: &Output) -> String {
    let (first, rest) = output.stdout.split_once('\n').unwrap();
    let (rows, time) = first.rsplit_once(" in ").unwrap();
    let why = time.find(':').map_or("", |at| &time[at..]);
    let program = env!("CARGO_BIN_EXE_leadload");
    format!("{rows} in TIME{why}\n{}", rest.replace(program, "leadload"))
}

/// A list of this many contacts without a round number.
fn contacts(count: usize) -> String {
    let all = crate::util::contacts(count + 1);
    let rows = all.lines().filter(|line| !line.starts_with(&number(0)));
    rows.map(|line| format!("{line}\n")).collect()
}

/// A service that refuses these rows, each with its status.
fn refuses(rows: &[(usize, u16)]) -> Sandbox {
    let rules = rows.iter().map(|(row, status)| {
        format!(
            "[[rule]]\nphone_number = '{}'\n\
             reply = {{ status = {status}, body = '{{\"message\":\"No {status} for Ada.\"}}' }}\n",
            number(*row)
        )
    });
    scenario(&rules.collect::<String>())
}

#[test]
fn a_run_without_problems_is_summed_up_in_four_lines() {
    let folder = Folder::with_leads(&contacts(3));
    let output = folder.import_leads(&service(), &[]).expect(0);
    insta::assert_snapshot!("summary_without_problems", summary(&output));
}

#[test]
fn each_problem_has_its_advice_and_the_rejects_their_command() {
    let folder = Folder::with_leads(&(contacts(9) + "x,Bob\n"));
    folder.write("do not call.txt", "+447911099999\n");
    let service = refuses(&[(2, 422), (3, 422), (5, 422), (6, 409), (7, 409)]);
    let list = ["--suppress", "do not call.txt"];
    let output = folder.import_leads(&service, &list).expect(1);
    insta::assert_snapshot!("summary_with_advice", summary(&output));
}

/// The command at the end of a summary, split as a shell does.
fn last_command(output: &Output) -> Vec<String> {
    let line = output.stdout.lines().last().unwrap();
    shlex::split(line).unwrap()
}

#[cfg(unix)]
#[test]
fn the_command_for_the_rejects_works_as_it_is_printed() {
    let folder = Folder::with_leads(
        "mobile,landline,note\n07911000001,,=1\n07911000002,,b\n,x,c\n07911000004,,d\n",
    );
    folder.write("do not call.txt", "+447911000002\n");
    let service = service();
    let list = ["--suppress", "do not call.txt", "--region", "GB"];
    let columns = ["--phone-column", "mobile", "--var", "note", "-q"];
    let output = folder
        .import_leads(&service, &[&list[..], &columns].concat())
        .expect(1);
    let fixed = folder
        .read("leads.rejects.csv")
        .replace(",x,c", "07911000003,,c");
    folder.write("leads.rejects.csv", fixed);
    let command = last_command(&output);
    let args: Vec<&str> = command.iter().skip(1).map(String::as_str).collect();
    assert_eq!(
        args,
        ["import", "leads.rejects.csv", "--rate", "none", "--quiet"]
    );
    folder.leadload(&args).at(&service).expect(0);
    let leads = service.leads();
    let sent: Vec<&str> = leads
        .iter()
        .map(|lead| lead.phone_number.as_str())
        .collect();
    assert_eq!(sent, ["+447911000001", "+447911000004", "+447911000003"]);
}

#[test]
fn without_a_ledger_the_command_for_the_rejects_says_all_that_is_needed() {
    let folder = Folder::with_leads("phone,name\n+447911000001,Ada\nx,Bob\n");
    let args = [
        "import",
        "leads.csv",
        "--sandbox",
        "--campaign",
        "Spring promo",
    ];
    let output = folder.leadload(&args).expect(1);
    insta::assert_snapshot!("summary_of_a_trial", summary(&output));
    let command = last_command(&output);
    let args: Vec<&str> = command.iter().skip(1).map(String::as_str).collect();
    folder.leadload(&args).expect(1);
}

#[test]
fn after_a_stop_it_says_what_exists_already_and_how_to_go_on() {
    let folder = Folder::with_leads(&contacts(9));
    // Time to read the list to its end.
    let service = scenario("token_revoked_after = 4\nlatency_ms = 100");
    let args = [
        "leads.csv",
        "--campaign",
        "Spring promo",
        "--concurrency",
        "1",
    ];
    let output = folder.import(&service, &args).expect(3);
    insta::assert_snapshot!("summary_after_a_stop", summary(&output));
}

#[test]
fn of_rows_without_a_number_it_is_said_how_many_another_column_would_fill() {
    let list = "name,phone,mobile\nAda,+447911000001,\nBob,,+447911000002\nCy,,none\n";
    let folder = Folder::with_leads(list);
    let flags = ["--phone-column", "phone"];
    let output = folder.import_leads(&service(), &flags).expect(1);
    insta::assert_snapshot!("summary_without_numbers", summary(&output));
    let rows = folder.records("leads.results.csv");
    let names_the_column = |row: usize| rows[row]["error"].contains("`mobile`");
    assert!(names_the_column(1) && !names_the_column(2));
}

#[test]
fn a_summary_names_no_person() {
    let folder = Folder::with_leads(&contacts(9));
    let service = refuses(&[(1, 422), (2, 404), (3, 413), (4, 403), (5, 418)]);
    let output = folder.import_leads(&service, &["-vv"]).expect(1);
    let shown = output.stdout + &output.stderr;
    assert!(!holds_a_number(&shown), "{shown}");
    for private in ["Ada", "Name", service.token()] {
        assert!(!shown.contains(private), "{private}: {shown}");
    }
}

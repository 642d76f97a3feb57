//! Do-not-call lists are read strictly: a line that cannot be read may be a
//! person who would then be called.

use crate::corpus::{encoded, gzip, utf_16le, zstd};
use crate::sheets::{ods, xlsx};
use crate::util::{Folder, service};

const LEADS: &str = "phone,name\n\
     +447400123456,Ada\n\
     +447400123457,Bob\n\
     +447400123458,Cy\n\
     +447400123457,Bob again\n";

/// The rows of the leads (from 1) that a list suppresses, each with the line of the list.
#[track_caller]
fn suppressed(name: &str, list: impl AsRef<[u8]>, flags: &[&str]) -> Vec<String> {
    let folder = Folder::with_leads(LEADS);
    folder.write(name, list);
    let args = [
        "check",
        "leads.csv",
        "--suppress",
        name,
        "--results",
        "out.csv",
    ];
    folder.leadload(&[&args, flags].concat()).expect(0);
    let rows = folder.records("out.csv").into_iter();
    let suppressed = rows.filter(|row| row["status"] == "suppressed");
    let with_line = suppressed.map(|row| {
        let (list, line) = row["error"].rsplit_once(' ').unwrap();
        assert!(list.contains(name), "{list}");
        format!("{}: {line}", row["row"])
    });
    with_line.collect()
}

/// The list is refused with a message that names this.
#[track_caller]
fn refusal_names(list: impl AsRef<[u8]>, flags: &[&str], named: &str) {
    let refused = refusal(list, flags);
    assert!(refused.contains(named), "{refused}");
}

/// The message about a list that is refused, so nothing is done.
#[track_caller]
fn refusal(list: impl AsRef<[u8]>, flags: &[&str]) -> String {
    let folder = Folder::with_leads(LEADS);
    folder.write("dnc.csv", list);
    let service = service();
    let args = ["leads.csv", "--campaign", "101", "--suppress", "dnc.csv"];
    let output = folder.import(&service, &[&args, flags].concat()).expect(2);
    assert_eq!(output.stdout, "");
    assert_eq!(service.stats().lead_requests, 0);
    assert_eq!(folder.names(), ["dnc.csv", "leads.csv"]);
    output.stderr
}

const BOBS: [&str; 2] = ["2: 2", "4: 2"];

#[test]
fn a_row_on_a_list_is_not_sent_and_says_which_list_and_line() {
    let folder = Folder::with_leads(LEADS);
    folder.write("dnc.csv", "phone\n+44 7400 123457\n");
    folder.write("more.csv", "x\n\n+447400123458\n");
    let service = service();
    let args = ["--suppress", "dnc.csv", "--suppress", "more.csv"];
    folder.import_leads(&service, &args).expect(0);
    assert_eq!(service.leads().len(), 1);
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        ["created", "suppressed", "suppressed", "suppressed"]
    );
    let errors = folder.column("leads.results.csv", "error");
    assert_eq!(errors[0], "");
    for (error, place) in
        errors[1..]
            .iter()
            .zip(["dnc.csv, line 2", "more.csv, line 3", "dnc.csv, line 2"])
    {
        assert!(error.ends_with(place), "{error}");
    }
    assert_eq!(
        folder.column("leads.results.csv", "error_code"),
        ["", "", "", ""]
    );
    assert!(!folder.names().contains(&"leads.rejects.csv".to_owned()));
}

#[test]
fn the_form_of_a_list_makes_no_difference() {
    let sheet = xlsx(|workbook| {
        let sheet = workbook.add_worksheet();
        sheet.write(0, 0, "Name")?.write(0, 1, "Mobile")?;
        sheet.write(1, 0, "Bob")?.write(1, 1, 447_400_123_457_i64)?;
        Ok(())
    });
    let table = r#"<table:table table:name="L"><table:table-row><table:table-cell office:value-type="string"><text:p>phone</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell office:value-type="string"><text:p>+44 7400 123457</text:p></table:table-cell></table:table-row></table:table>"#;
    let lists: [Vec<u8>; 11] = [
        "phone\n+447400123457\n".into(),
        "\u{FEFF}phone\r\n+447400123457".into(),
        "Name;Phone\nBob;07400 123457\n".into(),
        "Nom\tT\u{e9}l\nBob\t0044 7400 123457\n".into(),
        "phone\r+44 (0)7400-123457\r".into(),
        utf_16le("\u{FEFF}Name\tPhone\r\nZoë\t+447400123457\r\n"),
        encoded("windows-1252", "Name;Telefon\nJörg Müller;+447400123457\n"),
        gzip("phone\n+447400123457\n"),
        zstd("phone\n+447400123457\n"),
        sheet,
        ods(table, ""),
    ];
    for (at, list) in lists.into_iter().enumerate() {
        assert_eq!(
            suppressed("dnc.csv", list, &["--region", "GB"]),
            BOBS,
            "{at}"
        );
    }
}

#[test]
fn a_list_needs_no_heading() {
    for list in [
        "+447400123457\n+447400999999\n",
        "+447400123457",
        "07400 123457\n",
        "447400123457\n",
    ] {
        assert_eq!(
            suppressed("dnc.csv", list, &["--region", "GB"]),
            ["2: 1", "4: 1"],
            "{list:?}"
        );
    }
    assert_eq!(
        suppressed("dnc.csv", "Bob,+447400123457\nDi,+447400999999\n", &[]).len(),
        2
    );
}

#[test]
fn every_column_of_numbers_counts() {
    let list = "name,phone,mobile,fax\n\
         Bob,+442079460000,+447400123457,\n\
         Cy,+447400123458,,\n";
    assert_eq!(suppressed("dnc.csv", list, &[]), ["2: 2", "3: 3", "4: 2"]);
    let list = "+442079460000,+447400123457\n+442079460001,+447400123458\n";
    assert_eq!(suppressed("dnc.csv", list, &[]).len(), 3);
}

#[test]
fn a_rejects_or_results_file_of_numbers_is_a_list_too() {
    let list = "phone,name,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run\n\
         +447400123457,Bob,17,rejected,http_422,x,\n";
    assert_eq!(suppressed("dnc.csv", list, &[]), BOBS);
}

#[test]
fn a_number_without_plus_counts_where_the_flags_say_so() {
    assert_eq!(
        suppressed("dnc.csv", "phone\n447400123457\n", &["--assume-plus"]),
        BOBS
    );
    refusal_names("phone\n07400 123457\n", &[], "line 2");
}

#[test]
fn what_is_wanted_of_the_leads_does_not_shorten_a_list() {
    let list = "phone\n+447400123457\n+12125550123\n+447000000\n";
    let flags = ["--countries", "GB", "--phone-rule", "valid"];
    assert_eq!(suppressed("dnc.csv", list, &flags), BOBS);
}

#[test]
fn a_list_that_is_missing_empty_or_without_a_number_is_refused() {
    let folder = Folder::with_leads(LEADS);
    for args in [
        &["check"][..],
        &["import", "--sandbox", "--campaign", "101"],
    ] {
        let args = [args, &["leads.csv", "--suppress", "dnc.csv"]].concat();
        let output = folder.leadload(&args).expect(2);
        assert_eq!(output.stdout, "");
        output.tells("`dnc.csv`");
    }
    let sheet = xlsx(|workbook| workbook.add_worksheet().write(0, 0, "phone").map(drop));
    for list in [
        &b""[..],
        b"\xEF\xBB\xBF",
        b"\n\r\n",
        b"phone\n",
        b"phone",
        b"name,phone\n",
        b"name,phone\nBob,\n",
        b"phone\n\nunknown\n-\n",
        &sheet,
    ] {
        let text = refusal(list, &[]);
        assert!(text.contains("`dnc.csv`"), "{text}");
        assert!(!text.contains("line "), "{text}");
    }
}

#[test]
fn a_line_with_digits_that_are_no_number_is_named() {
    for line in [
        "+44 7400 12",
        "4.474E+11",
        "+447400123457 ext 12",
        "+447400123457 (Bob)",
        "+447400123457 / +447400123458",
        "٠٧٤٠٠",
        "+999 1234 5678",
        "1",
        "\"+447400123457",
    ] {
        let list = format!("phone\n+447400123456\n\n{line}\n");
        refusal_names(list, &[], "line 4");
    }
    let list = b"phone\n+447400123456\n+44740012345\xFF7\n";
    refusal_names(list, &[], "line 3");
}

#[test]
fn lines_without_a_digit_are_no_numbers_and_no_fault() {
    let list = "phone,name\n+447400123457,Bob\n,Zoë\nunknown,\n-,Ed\n+447400999999,\n";
    assert_eq!(suppressed("dnc.csv", list, &[]), BOBS);
}

#[test]
fn a_column_that_is_called_phone_counts_also_where_most_cells_are_remarks() {
    let list = "phone,name\n+447400123457,Bob\nunknown,Zoë\nhas moved,Ed\n";
    assert_eq!(suppressed("dnc.csv", list, &[]), BOBS);
}

#[test]
fn a_number_in_another_column_counts_and_other_digits_there_are_named() {
    let list = "name,phone\nBob,+447400123457\n+447400123458,\n";
    assert_eq!(suppressed("dnc.csv", list, &[]), ["2: 2", "3: 3", "4: 2"]);
    refusal_names("name,phone\nBob,+447400123457\nCy 2,\n", &[], "line 3");
}

#[test]
fn of_many_such_lines_the_first_ten_are_named() {
    let text = refusal(
        "phone\n+447400123457\n".to_owned() + &"x1\n".repeat(14),
        &[],
    );
    assert!(
        text.contains("line 3, line 4, ") && text.contains("line 12 and 4 more"),
        "{text}"
    );
}

#[test]
fn a_first_line_with_a_number_and_a_remark_is_no_heading() {
    for line in [
        "+447400123457 (Bob)",
        "+447400123457 ext 12",
        "+447400123457 / +447400123458",
    ] {
        let list = format!("{line}\n+447400123456\n");
        refusal_names(list, &[], "line 1");
    }
}

#[test]
fn a_number_among_remarks_is_not_overlooked() {
    let list = "phone,other\n\
         +442079460000,+447400123457\n\
         +442079460001,has moved\n\
         +442079460002,asked in writing\n";
    assert_eq!(suppressed("dnc.csv", list, &[]), BOBS);
}

#[test]
fn a_list_is_never_an_output() {
    let folder = Folder::with_leads(LEADS);
    folder.write("dnc.csv", "phone\n+447400123457\n");
    for flag in ["--results", "--rejects"] {
        let output = folder
            .leadload(&[
                "check",
                "leads.csv",
                "--suppress",
                "dnc.csv",
                flag,
                "./dnc.csv",
            ])
            .expect(2);
        output.tells("`./dnc.csv`");
    }
    assert_eq!(folder.read("dnc.csv"), "phone\n+447400123457\n");
}

#[test]
fn a_list_from_standard_input_is_refused() {
    let folder = Folder::with_leads(LEADS);
    let output = folder
        .leadload(&["check", "leads.csv", "--suppress", "-"])
        .expect(2);
    output.tells("`--suppress -`");
}

#[test]
fn a_row_is_invalid_before_it_is_suppressed_and_suppressed_before_it_is_repeated() {
    let folder = Folder::with_leads(
        "phone,list\n+447400123457,101\n+447400123457,101\n+447400123457,0x\n+447400123457,102\n+447400123457\n",
    );
    folder.write("dnc.csv", "+447400123457\n");
    let args = [
        "check",
        "leads.csv",
        "--suppress",
        "dnc.csv",
        "--campaign-column",
        "list",
        "--results",
        "out.csv",
    ];
    folder.leadload(&args).expect(1);
    assert_eq!(
        folder.column("out.csv", "status"),
        [
            "suppressed",
            "suppressed",
            "suppressed",
            "suppressed",
            "invalid"
        ]
    );
}

#[test]
fn a_check_reports_how_many_numbers_a_list_has() {
    let folder = Folder::with_leads(LEADS);
    folder.write(
        "dnc.csv",
        "phone\n+447400123457\n+44 7400 123457\n+447400123458\n",
    );
    let args = [
        "check",
        "leads.csv",
        "--suppress",
        "dnc.csv",
        "--format",
        "json",
    ];
    let summary = folder.leadload(&args).expect(0).json();
    let list = serde_json::json!({
        "name": "dnc.csv",
        "numbers": 2,
        "columns": [],
        "american_registry": false,
    });
    assert_eq!(summary["lists"], serde_json::json!([list]));
    assert_eq!(summary["counts"]["suppressed"], 3);
}

#[test]
fn a_number_beyond_the_heading_counts_or_is_an_error() {
    for list in [
        "phone\n+447400999999,+447400123457\n",
        "name,phone\nBob,+447400999999,+447400123457\nDi,+447400999998\n",
    ] {
        let folder = Folder::with_leads(LEADS);
        folder.write("dnc.csv", list);
        let args = [
            "check",
            "leads.csv",
            "--suppress",
            "dnc.csv",
            "--format",
            "json",
        ];
        let summary = folder.leadload(&args).output().json();
        let is_refused = summary["exit_code"] == 2;
        assert!(
            is_refused || summary["counts"]["suppressed"] == 2,
            "{list:?}"
        );
    }
}

#[test]
fn no_sheet_of_a_list_is_passed_over_in_silence() {
    let list = xlsx(|workbook| {
        workbook.add_worksheet().write(0, 0, "+447400999999")?;
        workbook.add_worksheet().write(0, 0, "+447400123457")?;
        Ok(())
    });
    let folder = Folder::with_leads(LEADS);
    folder.write("dnc.xlsx", list);
    let args = [
        "check",
        "leads.csv",
        "--suppress",
        "dnc.xlsx",
        "--format",
        "json",
    ];
    let output = folder.leadload(&args).output();
    let summary = output.json();
    let is_said = output.stderr.contains("Sheet2") || summary["exit_code"] == 2;
    assert!(
        is_said || summary["counts"]["suppressed"] == 2,
        "{}",
        output.stderr
    );
}

#[test]
fn what_may_be_a_number_counts_or_stops_the_run_in_any_column() {
    let long = format!(
        "note,phone\n,+447400999999\n{},+447400123457\n",
        "x".repeat(1_200_000)
    );
    for list in [
        "phone,alt\n+447400999999,447400123457\n",
        "phone,notes\n+447400999999,also +44 7400 123457\n",
        "+44740\n+447400999999\n",
        &long,
    ] {
        refusal_names(list, &[], "line ");
    }
}

/// A row that may have been taken is still reported as such if a later list names it.
#[test]
fn a_row_that_may_have_been_taken_or_was_made_is_reported_though_a_later_list_names_it() {
    let folder = Folder::with_leads(&crate::util::contacts(4));
    let service = crate::util::scenario(&format!(
        "[[rule]]\nphone_number = '{}'\nreply = {{ then = 'drop', store = true }}\n\
         [[rule]]\nphone_number = '{}'\nreply = {{ status = 401 }}",
        crate::util::number(1),
        crate::util::number(3)
    ));
    let hold = ["--on-uncertain", "hold", "--concurrency", "1"];
    folder.import_leads(&service, &hold).expect(3);
    let statuses = || folder.column("leads.results.csv", "status");
    assert_eq!(statuses(), ["created", "uncertain", "created"]);
    let ids = folder.column("leads.results.csv", "lead_id");

    let service = crate::util::replaced(service, "");
    folder.write("dnc.txt", [0, 1, 3].map(crate::util::number).join("\n"));
    let suppress = ["--suppress", "dnc.txt", "--concurrency", "1"];
    let output = folder.import_leads(&service, &suppress).expect(1);
    output.tells("run 1 ");
    output.shows("do-not-call");
    assert!(!output.stdout.contains("resend"), "{}", output.stdout);
    assert_eq!(
        statuses(),
        ["created", "uncertain", "created", "suppressed"]
    );
    assert_eq!(folder.column("leads.results.csv", "lead_id")[0], ids[0]);
    let errors = folder.column("leads.results.csv", "error");
    assert!(errors[1].ends_with("dnc.txt, line 2"), "{errors:?}");
    assert!(errors[3].ends_with("dnc.txt, line 3"), "{errors:?}");
    assert_eq!(service.stats().lead_requests, 0);

    // The same holds in another list.
    folder.write(
        "more.csv",
        format!(
            "phone\n{}\n{}\n",
            crate::util::number(1),
            crate::util::number(0)
        ),
    );
    let more = ["more.csv", "--campaign", "101", "--suppress", "dnc.txt"];
    let output = folder.import(&service, &more).expect(1);
    output.shows("\n1 person ");
    let results = folder.records("more.results.csv");
    assert_eq!(results[0]["status"], "uncertain");
    assert!(
        results[0]["error"].contains("run 1, row 2: "),
        "{results:?}"
    );
    assert_eq!(
        (&*results[1]["status"], &results[1]["lead_id"]),
        ("suppressed", &ids[0])
    );
    assert_eq!(service.stats().lead_requests, 0);
}

/// Corrects the number of the rejected row whose number was `x`.
fn correct_the_number(folder: &Folder) {
    let rejects = folder.read("leads.rejects.csv");
    let corrected = rejects.replace("\nx,", "\n+447400123457,");
    folder.write("leads.rejects.csv", corrected);
}

#[test]
fn rejects_that_come_back_need_the_lists_of_their_run_and_say_so_where_one_is_gone() {
    let folder = Folder::with_leads("phone\n+447400123456\nx\n");
    folder.write("dnc.txt", "+447400123457\n");
    let service = service();
    folder
        .import_leads(&service, &["--suppress", "dnc.txt"])
        .expect(1);
    correct_the_number(&folder);
    std::fs::rename(folder.path("dnc.txt"), folder.path("moved.txt")).unwrap();
    let refused = folder.import(&service, &["leads.rejects.csv"]).expect(2);
    refused.tells("dnc.txt`");
    refused.tells("run 1 ");
    let said = ["leads.rejects.csv", "--suppress", "moved.txt"];
    folder.import(&service, &said).expect(0);
    assert_eq!(
        folder.column("leads.rejects.results.csv", "status"),
        ["suppressed"]
    );
    std::fs::rename(folder.path("moved.txt"), folder.path("dnc.txt")).unwrap();
    folder.import(&service, &["leads.rejects.csv"]).expect(0);
    assert_eq!(
        folder.column("leads.rejects.results.csv", "status"),
        ["suppressed"]
    );
    assert_eq!(service.stats().lead_requests, 1);
}

/// In a spreadsheet, people delete cells, add rows and join files.
#[test]
fn rejects_keep_the_lists_of_their_run_whatever_becomes_of_single_cells() {
    let folder = Folder::with_leads("phone,name\n1,Ada\n2,Bob\n");
    folder.write("dnc.txt", "+447400123457\n");
    let service = service();
    let [first, second] = [(), ()].map(|()| {
        folder
            .import_leads(&service, &["--suppress", "dnc.txt"])
            .expect(1);
        folder.run_named_in("leads.rejects.csv")
    });
    let rejects = folder.read("leads.rejects.csv");
    let (header, _) = rejects
        .trim_start_matches('\u{feff}')
        .split_once('\n')
        .unwrap();
    for (case, rows) in [
        (
            "an empty row",
            "+447400123457,Ada,1,invalid,x,x,FIRST\n,,,,,,\n",
        ),
        (
            "a row added by hand",
            "+447400123457,Ada,,,,,\n2,Bob,2,invalid,x,x,FIRST\n",
        ),
        (
            "two runs",
            "+447400123457,Ada,1,invalid,x,x,FIRST\n2,Bob,2,invalid,x,x,SECOND\n",
        ),
        (
            "a number with a point",
            "+447400123457,Ada,1.0,invalid,x,x,FIRST\n",
        ),
    ] {
        let rows = rows.replace("FIRST", &first).replace("SECOND", &second);
        folder.write("fixed.csv", format!("{header}\n{rows}"));
        folder.import(&service, &["fixed.csv"]).output();
        let statuses = folder.column("fixed.results.csv", "status");
        assert_eq!(statuses[0], "suppressed", "{case}");
    }
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn rejects_whose_header_was_changed_keep_the_lists_of_their_run() {
    let folder = Folder::with_leads("phone,name,note\n1,Ada,x\n");
    folder.write("dnc.txt", "+447400123457\n");
    let service = service();
    folder
        .import_leads(&service, &["--suppress", "dnc.txt"])
        .expect(1);
    let added = "leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run";
    let run = folder.run_named_in("leads.rejects.csv");
    let fixed = format!("phone,name,{added}\n+447400123457,Ada,1,invalid,x,x,{run}\n");
    let without_texts = fixed.replace("leadload_error,", "").replace("x,x,", "x,");
    folder.write("fixed.csv", without_texts);
    let refused = folder.import(&service, &["fixed.csv", "--campaign", "101"]);
    let refused = refused.expect(2);
    refused.tells("`leadload_error`");
    folder.write("fixed.csv", &fixed);
    folder.import(&service, &["fixed.csv"]).expect(0);
    assert_eq!(folder.column("fixed.results.csv", "status"), ["suppressed"]);
    assert_eq!(service.stats().lead_requests, 0);
}

/// A list that is replaced every day is often a link to the latest file.
#[cfg(unix)]
#[test]
fn rejects_to_which_a_country_was_added_keep_the_options_of_their_run() {
    let mut list = "name,phone,consent\n".to_owned();
    for at in 10..40 {
        list += &format!("A{at},+4420794600{at},yes\n");
    }
    for at in 1..5 {
        list += &format!("B{at},(203) 555-010{at},{}\n", ["yes", "no"][at / 4]);
    }
    let folder = Folder::with_leads(&list);
    folder.write("dnc.txt", "+12035550101\n");
    let service = service();
    let flags = "--region GB --suppress dnc.txt --only consent=yes";
    folder
        .import_leads(&service, &flags.split(' ').collect::<Vec<_>>())
        .expect(1);
    let rejects = folder.read("leads.rejects.csv");
    let mut lines = rejects.lines();
    let header = lines.next().unwrap();
    let fixed = lines.map(|line| format!("US,{line}\n"));
    let header = header.trim_start_matches('\u{feff}');
    let fixed = format!("Country,{header}\n{}", fixed.collect::<String>());
    folder.write("leads.rejects.csv", fixed);
    folder.import(&service, &["leads.rejects.csv"]).expect(0);
    let statuses = folder.column("leads.rejects.results.csv", "status");
    assert_eq!(statuses, ["suppressed", "created", "created"]);
}

#[cfg(unix)]
#[test]
fn rejects_need_what_the_link_leads_to_now() {
    let folder = Folder::with_leads("phone\n+447400123456\nx\n");
    folder.write("monday.txt", "+447400123499\n");
    folder.write("tuesday.txt", "+447400123457\n");
    let link = |to: &str| std::os::unix::fs::symlink(to, folder.path("dnc.txt")).unwrap();
    link("monday.txt");
    let service = service();
    folder
        .import_leads(&service, &["--suppress", "dnc.txt"])
        .expect(1);
    correct_the_number(&folder);
    std::fs::remove_file(folder.path("dnc.txt")).unwrap();
    link("tuesday.txt");
    folder.import(&service, &["leads.rejects.csv"]).expect(0);
    assert_eq!(
        folder.column("leads.rejects.results.csv", "status"),
        ["suppressed"]
    );
}

#[test]
fn a_list_is_read_by_its_own_country_column_and_that_is_said() {
    let leads = "phone,country\n07400 123456,UK\n030 23125123,Germany\n+447400123458,UK\n";
    let folder = Folder::with_leads(leads);
    let list = "Name,Phone,Land\n\
        Ada,07400 123456,Großbritannien\n\
        Bob,030 23125123,Deutschland\n\
        Cy,07400 123457,\n";
    folder.write("dnc.csv", list);
    let args = [
        "check",
        "leads.csv",
        "--suppress",
        "dnc.csv",
        "--region",
        "GB",
    ];
    let output = folder.leadload(&args).expect(0);
    for named in [
        "`Phone`",
        "Germany (by row)",
        "United Kingdom (by row)",
        "United Kingdom (--region)",
        "suppressed               2",
    ] {
        output.shows(named);
    }
    // A line with an unknown country would suppress nobody.
    folder.write("dnc.csv", list.replace("Deutschland", "Neverland"));
    let refused = folder.leadload(&args).expect(2);
    refused.tells("line 3");
}

#[test]
fn a_list_of_addresses_says_that_it_has_no_numbers() {
    let list = "Name,E-mail\nAda,ada1990@example.com\nBob,bob@example.com\n";
    refusal_names(list, &[], "e-mail");
    refusal_names("ada1990@example.com\nbob@example.com\n", &[], "e-mail");
}

#[test]
fn a_list_without_a_phone_column_says_just_that() {
    for list in [
        "id,name\n1,Ada\n2,Bob\n",
        "name,town\nAda,Leeds\n",
        "name,born\nAda,1990-12-01\n",
    ] {
        let refused = refusal(list, &[]);
        assert!(refused.contains("`dnc.csv`"), "{refused}");
        assert!(!refused.contains("digits"), "{refused}");
    }
    // A column without a telling name is used if it has numbers.
    let list = "name,how\nBob,+447400123457\nZo,by mail\nEd,by mail\nDi,by mail\n";
    assert_eq!(suppressed("dnc.csv", list, &[]), BOBS);
}

#[test]
fn a_list_that_the_region_would_turn_into_other_peoples_numbers_is_refused() {
    let american = "phone\n(203) 555-0101\n(203) 555-0102\n(203) 555-0103\n";
    refusal_names(american, &["--region", "GB"], "`--region GB`");
    let own = "phone,country\n(203) 555-0101,US\n(203) 555-0102,US\n(203) 555-0103,US\n";
    assert!(suppressed("dnc.csv", own, &["--region", "GB"]).is_empty());
    let rule = ["--region", "GB", "--phone-rule", "possible"];
    assert!(suppressed("dnc.csv", american, &rule).is_empty());
}

#[test]
fn a_single_number_that_is_written_as_elsewhere_stops_the_run() {
    let list = "phone\n07911 000001\n(203) 555-0101\n07911 000002\n07911 000003\n";
    refusal_names(list, &["--region", "GB"], "line 3");
    let trusted = ["--region", "GB", "--phone-rule", "possible"];
    assert!(suppressed("dnc.csv", list, &trusted).is_empty());
}

//! `--keep`: columns of the list in the results.

use crate::util::{Folder, contacts, scenario, service};

const LIST: &str = "Id;Phone;Note\n\
     A-1;+447911000001;=1+1\n\
     A-2;x;bad\n\
     A-3;+447911000001;twice\n";

#[test]
fn kept_columns_come_last_for_every_row_whatever_its_status() {
    let folder = Folder::with_leads(LIST);
    let flags = [
        "--keep",
        "Id",
        "--keep",
        "remark=note",
        "--keep",
        "number=2",
    ];
    folder.import_leads(&service(), &flags).expect(1);
    let results = folder.read("leads.results.csv");
    let lines: Vec<Vec<&str>> = results
        .lines()
        .map(|line| line.split(';').collect())
        .collect();
    assert!(
        lines[0].ends_with(&["phone_kind", "Id", "remark", "number"]),
        "{results}"
    );
    let kept: Vec<&[&str]> = lines[1..]
        .iter()
        .map(|line| &line[line.len() - 3..])
        .collect();
    assert_eq!(
        kept,
        [
            ["A-1", "'=1+1", "+447911000001"],
            ["A-2", "bad", "x"],
            ["A-3", "twice", "+447911000001"],
        ]
    );
    // It is still a results file, which is not imported.
    let refused = folder
        .import(&service(), &["leads.results.csv", "--campaign", "101"])
        .expect(2);
    refused.tells("`*.csv`");
}

#[test]
fn what_is_kept_of_several_lists_is_found_in_each_and_of_rejects_without_being_said() {
    let folder = Folder::with_leads(LIST);
    folder.write("more.csv", "phone,id\n+447911000009,B-1\n");
    let service = service();
    let args = ["leads.csv", "more.csv", "--campaign", "101", "--keep", "id"];
    folder.import(&service, &args).expect(1);
    assert_eq!(
        folder.column_of("leads.results.csv", b';', "Id"),
        ["A-1", "A-2", "A-3", "B-1"]
    );
    folder.import(&service, &["leads.rejects.csv"]).expect(1);
    assert_eq!(
        folder.column_of("leads.rejects.results.csv", b';', "Id"),
        ["A-2"]
    );
}

#[test]
fn a_name_that_results_have_or_that_is_given_twice_is_refused_before_anything_is_sent() {
    let folder = Folder::with_leads("id,phone,Status\n1,+447911000001,old\n");
    let service = service();
    for (flags, named) in [
        (&["--keep", "Status"][..], "`Status`"),
        (&["--keep", "line=id"], "`line`"),
        (&["--keep", "file=id"], "`file`"),
        (&["--keep", "id", "--keep", "id=phone"], "`id`"),
        (&["--keep", "nope"], "`--keep nope`"),
    ] {
        let refused = folder.import_leads(&service, flags).expect(2);
        refused.tells(named);
        assert_eq!(refused.stdout, "");
    }
    assert_eq!(service.stats().lead_requests, 0);
    folder
        .import_leads(&service, &["--keep", "state=Status"])
        .expect(0);
    assert_eq!(folder.column("leads.results.csv", "state"), ["old"]);
}

#[test]
fn fewer_rows_than_there_should_be_are_not_sent() {
    let folder = Folder::with_leads(&contacts(5));
    let service = service();
    for command in ["import", "check"] {
        let line = format!("{command} leads.csv --campaign 101 --rate none --min-rows");
        let args: Vec<&str> = line.split(' ').collect();
        let refused = folder
            .leadload(&[&args[..], &["6"]].concat())
            .at(&service)
            .expect(2);
        refused.tells("5 data rows");
        refused.tells("`--min-rows 5`");
        assert_eq!(refused.stdout, "");
        assert_eq!(folder.names(), ["leads.csv"]);
        assert_eq!(service.stats().lead_requests, 0);
    }
    // `--min-rows` counts the rows of the list, not those that `--limit` leaves.
    folder
        .import_leads(&service, &["--min-rows", "5", "--limit", "1"])
        .expect(0);
    folder.write("empty.csv", "phone\n");
    let args = ["empty.csv", "--campaign", "101", "--min-rows", "1"];
    folder
        .import(&service, &args)
        .expect(2)
        .tells("0 data rows");
}

#[test]
fn rejects_may_be_few() {
    let folder = Folder::with_leads("phone\n+447911000001\nx\n+447911000002\n");
    folder.write("config.toml", "min_rows = 3\n");
    let service = scenario("");
    let config = ["--config", "config.toml"];
    folder.import_leads(&service, &config).expect(1);
    folder
        .import(&service, &["leads.rejects.csv", "--config", "config.toml"])
        .expect(1);
}

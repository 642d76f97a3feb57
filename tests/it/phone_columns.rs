//! A number in two columns, an extension in a column of its own, and a second phone column.

use std::fs;
use std::io::Write;

use jiff::ToSpan;

use crate::util::{Folder, scenario, seen, service};

const SPLIT: &str = "Name;Vorwahl;Rufnummer\n\
    Ada;030;1234567\n\
    Bob;06221;12345\n\
    Cy;30;123 45 68\n\
    Di;;1234569\n\
    Ed;030;0171 3920001\n\
    Flo;;+44 7911 123456\n\
    Gus;+49;171 3920002\n";

const CALLED: [&str; 6] = [
    "+49301234567",
    "+49622112345",
    "+49301234568",
    "+491713920001",
    "+447911123456",
    "+491713920002",
];

#[test]
fn an_area_code_in_a_column_of_its_own_is_joined_and_said() {
    let (folder, service) = (Folder::with_leads(SPLIT), scenario("keep_bodies = true"));
    let output = folder.import_leads(&service, &["--region", "DE"]).expect(1);
    let phones: Vec<String> = seen(&service).into_iter().map(|lead| lead.phone).collect();
    assert_eq!(phones, CALLED);
    output.tells("`Vorwahl` + `Rufnummer` (--phone-column)");
    output.tells("column 2 (`Vorwahl`)");
    let codes = folder.column_of("leads.results.csv", b';', "error_code");
    assert_eq!(codes[3], "phone_not_e164");
    let shown = folder.column_of("leads.results.csv", b';', "phone_number");
    assert_eq!(shown[3], "1234569");
    // The rejects take the columns of their run; a corrected area code is enough.
    let rejects = folder.read("leads.rejects.csv");
    folder.write("leads.rejects.csv", rejects.replace("Di;;", "Di;030;"));
    folder.import(&service, &["leads.rejects.csv"]).expect(0);
    let phones = folder.column_of("leads.rejects.results.csv", b';', "phone_number");
    assert_eq!(phones, ["+49301234569"]);
}

#[test]
fn the_flag_names_both_columns_by_header_or_number_and_a_header_with_a_plus_comes_first() {
    let check = |list: &str, flags: &[&str]| {
        let folder = Folder::with_leads(list);
        let args = [
            "check",
            "leads.csv",
            "--region",
            "DE",
            "--results",
            "out.csv",
        ];
        folder.leadload(&[&args, flags].concat()).expect(0);
        folder.column("out.csv", "phone_number")
    };
    let list = "a+b,x,y,z\n+4930111111,030,1234567,0171 3920001\n+4930111112,,,0171 3920002\n";
    let joined = ["+49301234567", "+491713920002"];
    for pair in ["x+y", "X + Y", "2+3", "x+3"] {
        let flags = ["--phone-column", pair, "--phone-column", "z"];
        assert_eq!(check(list, &flags), joined, "{pair}");
    }
    let whole = ["+4930111111", "+4930111112"];
    assert_eq!(check(list, &["--phone-column", "a+b"]), whole);
    let folder = Folder::with_leads(list);
    let args = ["check", "leads.csv", "--phone-column", "x+w"];
    folder.leadload(&args).expect(2).tells("`--phone-column w`");
}

#[test]
fn a_saved_mapping_keeps_both_columns() {
    let folder = Folder::with_leads(SPLIT);
    let service = service();
    let args = [
        "check",
        "leads.csv",
        "--region",
        "DE",
        "--save-mapping",
        "split",
    ];
    folder.leadload(&args).at(&service).expect(1);
    let config = fs::read_to_string(folder.config()).unwrap();
    assert!(config.contains("Vorwahl+Rufnummer"), "{config}");
    let args = [
        "leads.csv",
        "--profile",
        "split",
        "--campaign",
        "101",
        "--region",
        "DE",
    ];
    folder.import(&service, &args).expect(1);
    let numbers = folder.column_of("leads.results.csv", b';', "phone_number");
    assert_eq!(numbers[..3], CALLED[..3]);
}

#[test]
fn an_extension_in_a_column_of_its_own_counts_as_if_it_stood_in_the_cell() {
    let list = "Name,Phone,Ext.,Account Manager ext\n\
        Ada,+493012345670,12,7\n\
        Bob,+493012345671,0,7\n\
        Cy,+493012345672,-,7\n\
        Di,+493012345673,n/a,7\n\
        Ed,+493012345674,,7\n\
        Flo,,99,7\n";
    let (folder, service) = (Folder::with_leads(list), scenario("keep_bodies = true"));
    let output = folder.import_leads(&service, &[]).expect(1);
    let sent = seen(&service);
    let phones: Vec<&str> = sent.iter().map(|lead| lead.phone.as_str()).collect();
    assert_eq!(
        phones,
        [
            "+493012345671",
            "+493012345672",
            "+493012345673",
            "+493012345674"
        ]
    );
    output.tells("`Ext.`");
    let codes = folder.column("leads.results.csv", "error_code");
    assert_eq!(
        (&*codes[0], &*codes[5]),
        ("phone_not_e164", "phone_missing")
    );
    let errors = folder.column("leads.results.csv", "error");
    assert!(
        errors[0].contains("extension (column `Ext.`)"),
        "{}",
        errors[0]
    );
}

#[test]
fn rows_that_take_their_number_from_the_second_column_are_counted_and_named() {
    let list =
        "phone,mobile\n+447911000001,\n,+447911000002\nx,+447911000003\n+44 1,+447911000004\nx,\n";
    let (folder, service) = (Folder::with_leads(list), service());
    let flags = ["--phone-column", "phone", "--phone-column", "mobile"];
    let check = [&["check", "leads.csv"], &flags[..]].concat();
    let said = "3 rows take their number";
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = one_line(&folder.leadload(&check).expect(1).stdout);
    assert!(
        text.contains(said) && text.contains("(line 4, 5)"),
        "{text}"
    );
    let text = one_line(&folder.import_leads(&service, &flags).expect(1).stdout);
    assert!(text.contains(said) && text.contains("(row 3, 4)"), "{text}");
    let json = [&check[..], &["--format", "json"]].concat();
    let found = folder.leadload(&json).expect(1).json();
    let later = &found["later_phone_columns"];
    assert_eq!(
        (&later["empty"], &later["unusable"]),
        (&1.into(), &2.into())
    );
    assert_eq!(later["first_unusable"][1]["line"], 5);
}

pub const REGISTRY: &str = "202,4561000\n203,5550130\n";

/// An archive of files that were changed in 2024.
pub fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let long_ago = zip::DateTime::from_date_and_time(2024, 2, 29, 12, 0, 0).unwrap();
    for (name, text) in files {
        let options = zip::write::SimpleFileOptions::default().last_modified_time(long_ago);
        zip.start_file(*name, options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn the_american_registry_is_read_as_it_is_delivered_whatever_the_region() {
    let people = "phone,name\n+12024561000,Ada\n+12035550130,Bob\n+12035550131,Cy\n";
    for (name, list) in [
        ("registry.txt", REGISTRY.as_bytes().to_vec()),
        ("registry.zip", zipped(&[("2026-11-01_202.txt", REGISTRY)])),
    ] {
        let folder = Folder::with_leads(people);
        folder.write(name, list);
        let args = [
            "check",
            "leads.csv",
            "--suppress",
            name,
            "--region",
            "GB",
            "--results",
            "out.csv",
        ];
        let output = folder.leadload(&args).expect(0);
        let statuses = folder.column("out.csv", "status");
        assert_eq!(statuses, ["suppressed", "suppressed", "ready"], "{name}");
        output.shows("2 numbers");
        output.shows("American registry");
        let is_old = output.stderr.contains("older than 31");
        assert_eq!(is_old, name.ends_with("zip"), "{}", output.stderr);
    }
}

#[test]
fn a_copy_of_the_american_registry_may_be_31_days_old() {
    for (days, is_told) in [(31, None), (32, Some("`registry.txt` is 32 days old"))] {
        let folder = Folder::with_leads("phone\n+12035550131\n");
        folder.write("registry.txt", REGISTRY);
        let file = fs::File::options()
            .write(true)
            .open(folder.path("registry.txt"));
        let copied = jiff::Zoned::now().checked_sub(days.days()).unwrap();
        file.unwrap().set_modified(copied.into()).unwrap();
        let check = ["check", "leads.csv", "--suppress", "registry.txt"];
        let told = folder.leadload(&check).expect(0).stderr;
        let is_as_told = is_told.is_none_or(|text| told.contains(text));
        assert!(is_as_told, "{told}");
        assert_eq!(told.contains("days old"), is_told.is_some(), "{told}");
    }
}

#[test]
fn a_zip_archive_of_several_files_is_no_do_not_call_list_and_no_list_of_contacts() {
    let folder = Folder::with_leads("phone\n+12024561000\n");
    folder.write(
        "two.zip",
        zipped(&[("a.txt", REGISTRY), ("b.txt", REGISTRY)]),
    );
    folder.write("one.zip", zipped(&[("a.txt", "phone\n+12024561000\n")]));
    folder
        .leadload(&["check", "leads.csv", "--suppress", "two.zip"])
        .expect(2);
    folder.leadload(&["check", "one.zip"]).expect(2);
}

#[test]
fn a_do_not_call_list_with_area_codes_is_joined_too() {
    let folder = Folder::with_leads("phone\n+49301234567\n+49301234568\n");
    folder.write(
        "dnc.csv",
        "Vorwahl;Rufnummer;Datum\n030;1234567;2026-01-01\n",
    );
    let args = [
        "check",
        "leads.csv",
        "--suppress",
        "dnc.csv",
        "--region",
        "DE",
        "--results",
        "out.csv",
    ];
    let output = folder.leadload(&args).expect(0);
    assert_eq!(folder.column("out.csv", "status"), ["suppressed", "ready"]);
    output.shows("1 number in `Vorwahl+Rufnummer`");
    folder.write("dnc.csv", "Vorwahl;Rufnummer\n030;1234567\n;1234568\n");
    folder.leadload(&args).expect(2).tells("line 3");
}

//! Messages that used to lead nowhere.

use crate::util::Folder;

#[test]
fn a_file_with_several_tables_is_called_one_with_a_header_and_without() {
    let folder = Folder::with_leads(
        "+447911000001,Ada\n+447911000002,Bob\n\nname,phone\nCy,+447911000003\nDi,+447911000004\n",
    );
    for flags in [
        &["check", "leads.csv"][..],
        &["check", "leads.csv", "--no-header"],
    ] {
        let output = folder.leadload(flags).output();
        let said = &output.stderr;
        assert!(
            said.contains("tables") || output.code == 0 || output.code == 1,
            "{said}"
        );
        assert!(!said.contains("leave out `--no-header`"), "{said}");
    }
}

#[test]
fn a_whole_line_in_one_cell_names_the_delimiter() {
    let folder =
        Folder::with_leads("phone^name^city\n+447911000001^Ada^Leeds\n+447911000002^Bob^York\n");
    let output = folder
        .leadload(&["check", "leads.csv", "--phone-column", "1"])
        .expect(1);
    output.shows("--delimiter");
    let args = ["check", "leads.csv", "--delimiter", "^"];
    folder.leadload(&args).expect(0);
}

#[test]
fn the_old_prefix_of_mexico_is_named() {
    let folder = Folder::with_leads("phone\n+52 1 55 1234 5678\n+52 55 1234 5678\n");
    let check = ["check", "leads.csv", "--results", "out.csv"];
    folder.leadload(&check).expect(1);
    let errors = folder.column("out.csv", "error");
    assert!(errors[0].contains("leave out the 1"), "{errors:?}");
}

#[test]
fn a_list_as_long_as_a_sheet_may_be_cut_off() {
    for (rows, is_said) in [
        (65_535, true),
        (65_536, true),
        (65_534, false),
        (65_537, false),
    ] {
        let numbers = (0..rows).map(|row| format!("+4479110{row:05}\n"));
        let folder = Folder::with_leads(&format!("phone\n{}", numbers.collect::<String>()));
        let output = folder.leadload(&["check", "leads.csv"]).output();
        assert_eq!(output.stdout.contains("Excel sheet"), is_said, "{rows}");
    }
}

#[test]
fn a_list_from_dos_is_pointed_out_and_read_by_name() {
    let folder = Folder::new();
    let mut list = b"nombre;telefono;ciudad\n".to_vec();
    for row in 0..5 {
        list.extend(b"Jos\x82 Pe\xA4a;+3461234560");
        list.extend(format!("{row};").bytes());
        list.extend(b"M\xA0laga Le\xA2n\n");
    }
    folder.write("leads.csv", list);
    folder
        .leadload(&["check", "leads.csv"])
        .expect(0)
        .shows("--encoding cp850");
    let args = ["check", "leads.csv", "--encoding", "cp850"];
    let output = folder.leadload(&args).expect(0);
    output.shows("José Peña");
    output.shows("Málaga León");
}

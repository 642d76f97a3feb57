//! Nothing that a list, a service, a file name or a person gives steers the terminal, turns the
//! direction of writing or hides something, wherever it is shown.

use leadload::sandbox::Sandbox;

use crate::util::{Folder, Output, scenario};

/// All control characters, separators of lines and invisible characters for formatting that can
/// stand in an argument, without the joiners that people write with.
fn unseen() -> Vec<char> {
    let ranges = [
        (0x1, 0x1F),
        (0x7F, 0x9F),
        (0xAD, 0xAD),
        (0x61C, 0x61C),
        (0x180E, 0x180E),
        (0x200B, 0x200B),
        (0x200E, 0x200F),
        (0x2028, 0x202E),
        (0x2060, 0x2064),
        (0x2066, 0x206F),
        (0xFEFF, 0xFEFF),
        (0xFFF9, 0xFFFB),
        (0x1D173, 0x1D17A),
        (0xE0001, 0xE0001),
        (0xE0020, 0xE007F),
    ];
    let all = ranges.into_iter().flat_map(|(first, last)| first..=last);
    all.filter_map(char::from_u32).collect()
}

/// All of them with letters in between, and what people write.
fn hostile() -> String {
    let unseen: String = unseen().iter().flat_map(|c| ['x', *c]).collect();
    format!("می\u{200C}خواهم {unseen} 👩\u{200D}👧")
}

#[track_caller]
fn steers_nothing(shown: &str) {
    let unseen = unseen();
    let steers = shown.chars().find(|c| *c != '\n' && unseen.contains(c));
    assert_eq!(steers, None, "{shown:?}");
}

#[track_caller]
fn steer_nothing(output: &Output) {
    steers_nothing(&output.stdout);
    steers_nothing(&output.stderr);
}

/// The text in a basic string of TOML.
fn escaped(text: &str) -> String {
    let units = text.chars().map(|c| format!("\\U{:08x}", u32::from(c)));
    units.collect()
}

fn service(name: &str) -> Sandbox {
    let text = escaped(name);
    let message = serde_json::to_string(&serde_json::json!({ "message": name })).unwrap();
    let message = escaped(&message);
    scenario(&format!(
        "[[campaign]]\nid = 101\nname = \"{text}\"\nstatus = \"{text}\"\n\
         [[rule]]\nphone_number = \"+447911000002\"\nreply = {{ status = 422, body = \"{message}\" }}"
    ))
}

#[test]
fn campaigns_are_shown_without_them_in_every_form_and_json_has_the_same_values() {
    let (name, folder) = (hostile(), Folder::new());
    let service = service(&name);
    for format in ["text", "csv", "json"] {
        let list = ["campaigns", "--format", format];
        let output = folder.leadload(&list).at(&service).expect(0);
        steer_nothing(&output);
        output.shows("می\u{200C}خواهم x");
        output.shows(" 👩\u{200D}👧");
        if format == "json" {
            assert_eq!(output.json()["campaigns"][0]["name"], name);
        }
    }
}

#[test]
fn reasons_on_the_do_not_call_list_are_shown_without_them_in_every_form() {
    let (reason, folder) = (hostile(), Folder::new());
    let add = ["suppress", "add", "--number", "+447911000001", "--reason"];
    let add = folder.leadload(&[&add[..], &[&reason]].concat());
    steer_nothing(&add.expect(0));
    for format in ["text", "csv", "json"] {
        let output = folder.leadload(&["suppress", "list", "--format", format]);
        let output = output.expect(0);
        steer_nothing(&output);
        if format == "json" {
            assert_eq!(output.json()["numbers"][0]["reason"], reason.trim());
        }
    }
}

/// Text of a list, of a service and in the name of a file in one run, in each form.
#[cfg(target_os = "linux")]
#[test]
fn a_run_is_shown_without_them_from_check_to_export_and_files_have_cells_as_they_are() {
    let all = unseen();
    // A name of a file is short, and a null or a line end within a cell is another matter.
    for some in all.chunks(40) {
        let text: String = some.iter().flat_map(|c| ['x', *c]).collect();
        let cells: String = text
            .chars()
            .filter(|c| *c >= '\u{7F}' || *c == '\u{1B}' || *c == 'x')
            .collect();
        let folder = Folder::new();
        let service = service(&text);
        let name = format!("l{text}.csv");
        folder.write(
            &name,
            format!("phone,{cells}\n+447911000001,{cells}\n+447911000002,b\n{cells}y,c\n"),
        );
        let check = |args: &[&str]| folder.leadload(&[&["check", &name], args].concat());
        steer_nothing(&check(&[]).expect(1));
        let check = check(&["--format", "json"]).expect(1);
        steer_nothing(&check);
        assert_eq!(check.json()["mapping"]["phone"], "phone");
        let import = |args: &[&str]| {
            let args = [
                &[name.as_str(), "--campaign", "101", "--report", "r.html"],
                args,
            ]
            .concat();
            folder.import(&service, &args).expect(1)
        };
        steer_nothing(&import(&["-vv"]));
        let results = folder.records(&format!("l{text}.results.csv"));
        assert_eq!(results[2]["phone_number"], format!("{cells}y"));
        let output = import(&["-vv", "--log-format", "json", "--format", "json", "--again"]);
        steer_nothing(&output);
        let named = output.json()["results"].as_str().unwrap().to_owned();
        assert!(
            named.ends_with(&format!("l{text}.results.csv")),
            "{named:?}"
        );
        for line in output.stderr.lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
        steers_nothing(&folder.read("r.html"));
        for args in [
            &["runs"][..],
            &["runs", "--format", "json"],
            &["runs", "show", "last"],
            &["runs", "show", "last", "--format", "json"],
            &["runs", "export", "last", "--results", "-"],
            &["campaigns", &format!("x{text}")],
            &["import", &format!("no{text}"), "--campaign", "101"],
            &["import", &name, "--campaign", &format!("no{text}")],
        ] {
            steer_nothing(&folder.leadload(args).at(&service).output());
        }
    }
}

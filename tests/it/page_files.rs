//! The files that the page keeps: where they can be downloaded, and when they go.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use crate::page_runs::{Page, SLOW, has_each_once};
use crate::page_session::Answer;
use crate::util::{Folder, contacts, scenario, service, wait_until};

/// Sends the list as far as this, and stops.
fn send_some(page: &Page, list: &str) -> Answer {
    page.send(list, &[("only-first", "yes")]);
    let ended = page.end(list);
    assert!(ended.says("Stopped"), "{}", ended.body);
    ended
}

/// Chooses `leads.csv` again, as it is now.
fn use_newer_version(page: &Page, folder: &Folder, list: &str) {
    let address = format!("{list}/list");
    let version = page.session.arrive(&address).1.field("version");
    let fields = [("version", version.as_str())];
    let leads = folder.path("leads.csv");
    let answer = page.session.upload(&address, &fields, Some(&leads));
    assert_eq!(answer.to, Some(format!("{list}/send")), "{}", answer.body);
}

#[test]
fn a_run_keeps_its_files_when_its_list_gets_a_newer_version() {
    let folder = Folder::with_leads(&contacts(200));
    let service = scenario(SLOW);
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    send_some(&page, &list);
    let former = page.results(&list);
    let sent = service.stats().lead_requests;

    folder.write("leads.csv", contacts(230));
    use_newer_version(&page, &folder, &list);

    // What was begun with the former list is not gone on with.
    let (at, history) = page.session.arrive("history/1");
    assert_eq!(at, "history/1");
    assert!(history.says("were changed since"), "{}", history.body);
    page.session.post("history/1/resume", &[]);
    assert_eq!(
        page.session.arrive(&format!("{list}/run")).0,
        format!("{list}/send")
    );
    assert_eq!(service.stats().lead_requests, sent);
    // Its files and its summary are still there.
    let results = page.session.get("history/1/files/results.csv");
    assert_eq!(results.body.lines().count(), former.len() + 1);
    let summary = page.session.get("history/1/summary");
    assert!(summary.says("stopped"), "{}", summary.body);

    page.send(&list, &[]);
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 230);
    assert_eq!(
        page.session.get("history/1/files/results.csv").body,
        results.body
    );
    let summary = page.session.get("history/2/summary");
    assert!(
        summary.says("complete") && summary.says("230 rows"),
        "{}",
        summary.body
    );
    // A restart changes nothing of this.
    page.kill();
    let page = Page::start(&folder, &service);
    assert_eq!(
        page.session.get("history/1/files/results.csv").body,
        results.body
    );
    let summary = page.session.get("history/2/summary");
    assert!(
        summary.says("complete") && summary.says("Spring promo"),
        "{}",
        summary.body
    );
    assert_eq!(page.session.get("history/2/files/results.xlsx").status, 200);
}

#[test]
fn a_run_of_the_command_line_has_its_files_and_its_summary_in_the_history() {
    let folder = Folder::with_leads(&contacts(20));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let page = Page::start(&folder, &service);
    let history = page.session.get("history/1");
    let file = history.link("/files/results.csv").expect(&history.body);
    assert_eq!(
        page.session.get(&file).body,
        folder.read("leads.results.csv")
    );
    let summary = history.link("/summary").expect(&history.body);
    let summary = page.session.get(&summary);
    assert!(
        summary.says("complete") && summary.says("20 rows"),
        "{}",
        summary.body
    );
}

#[test]
fn a_file_that_was_changed_since_it_was_written_is_not_served() {
    let folder = Folder::with_leads(&contacts(20));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let page = Page::start(&folder, &service);
    let is_served = |run: &str| {
        let history = page.session.arrive(run).1;
        let file = page.session.get(&format!("{run}/files/results.csv"));
        let is_served = file.body.contains("+44791");
        assert_eq!(history.link("/files/results.csv").is_some(), is_served);
        assert_eq!(history.says("no longer as they were written"), !is_served);
        is_served
    };
    let results = folder.read("leads.results.csv");
    folder.write("leads.results.csv", results.replacen('1', "2", 1));
    assert!(!is_served("history/1"));
    folder.write("leads.results.csv", results);
    assert!(is_served("history/1"));

    // Nor one that the page itself has just written.
    folder.write("leads.csv", contacts(30));
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    assert!(page.end(&list).says("Sent"));
    assert!(is_served("history/2"));
    let files = below(&folder_of(&folder, &list));
    let is_results = |path: &&PathBuf| path.to_string_lossy().ends_with(".results.csv");
    let results = files.iter().find(is_results).unwrap();
    let text = fs::read_to_string(results).unwrap();
    fs::write(results, text.replacen('1', "2", 1)).unwrap();
    assert!(!is_served("history/2"));
}

#[test]
fn a_run_of_the_command_line_that_goes_on_in_the_page_replaces_no_file_of_the_user() {
    let folder = Folder::with_leads(&contacts(200));
    folder.write("leads.results.xlsx", "the user's own");
    folder.write("leads.xlsx", "the user's list");
    let service = scenario(SLOW);
    let some = ["--concurrency", "1", "--max-duration", "1500ms"];
    folder.import_leads(&service, &some).expect(4);
    let page = Page::start(&folder, &service);
    let run = page.session.post("history/1/resume", &[]).to.unwrap();
    let list = run.strip_suffix("/run").unwrap();
    assert!(page.end(list).says("Sent"));
    has_each_once(&service, 200);
    // The user's folder has the results; the workbook is in the page's.
    let results = page.session.get("history/1/files/results.csv").body;
    assert_eq!(results, folder.read("leads.results.csv"));
    let workbook = page.session.get("history/1/files/results.xlsx");
    assert_eq!(workbook.status, 200, "{}", workbook.body);
    assert_eq!(folder.read("leads.results.xlsx"), "the user's own");
    assert_eq!(folder.read("leads.xlsx"), "the user's list");
}

#[test]
fn another_run_of_a_list_has_files_of_its_own() {
    let folder = Folder::with_leads(&contacts(60));
    let service = scenario(SLOW);
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    send_some(&page, &list);
    let former = page.session.get("history/1/files/results.csv");
    page.choose(&list, &page.version(&list), "first_name");
    page.send(&list, &[]);
    assert!(page.end(&list).says("Sent"));
    has_each_once(&service, 60);
    let kept = page.session.get("history/1/files/results.csv");
    assert_eq!(kept.body, former.body);
    let results = page.session.get("history/2/files/results.csv");
    assert_eq!(results.body.lines().count(), 61);
}

#[test]
fn what_a_command_line_completes_is_complete_in_the_page() {
    let folder = Folder::with_leads(&contacts(60));
    let service = scenario(SLOW);
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    send_some(&page, &list);
    let stopped = page.session.arrive(&format!("{list}/run")).1;
    assert!(stopped.says("Resume"), "{}", stopped.body);
    // The same list with the same settings goes on.
    let same = ["--phone-column", "phone", "--var", "name"];
    folder.import_leads(&service, &same).expect(0);
    has_each_once(&service, 60);
    let (at, sent) = page.session.arrive(&format!("{list}/run"));
    assert_eq!(at, "history/1");
    assert!(sent.says("Sent") && !sent.says("Resume"), "{}", sent.body);
}

#[test]
fn rows_to_fix_take_the_settings_that_their_run_had() {
    let folder = Folder::with_leads(&(contacts(60) + "no number,Eve\n"));
    folder.write("dnc.csv", "phone\n+447911999999\n");
    let service = scenario(SLOW);
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    let change_lists = |list: &str, action: &str, added: Option<&Path>| {
        let version = page.version(list);
        let fields = [
            ("version", version.as_str()),
            ("action", action),
            ("phone", "0"),
            ("send-1", "yes"),
            ("name-1", "name"),
        ];
        let columns = format!("{list}/columns");
        page.session.upload(&columns, &fields, added);
    };
    change_lists(&list, "block", Some(&folder.path("dnc.csv")));
    send_some(&page, &list);
    let kept = below(&folder_of(&folder, &list)).into_iter();
    let mut kept = kept.filter(|path| path.to_string_lossy().ends_with(".rows-to-fix.xlsx"));
    let to_fix = folder.path("to fix.xlsx");
    fs::copy(kept.next().unwrap(), &to_fix).unwrap();
    // What is changed afterwards is not what the run had.
    change_lists(&list, "remove-0", None);
    assert!(
        !page
            .session
            .arrive(&format!("{list}/send"))
            .1
            .says("dnc.csv")
    );

    let chosen = page.session.upload("list", &[], Some(&to_fix));
    let (at, _) = page.session.arrive(&chosen.to.unwrap());
    let (fixed, _) = at.rsplit_once('/').unwrap();
    let send = page.session.arrive(&format!("{fixed}/send")).1;
    assert!(send.says("dnc.csv"), "{}", send.body);
    // Nor does it go by itself.
    let version = send.field("version");
    let scratch = format!("{fixed}/scratch");
    page.session
        .post(&scratch, &[("version", version.as_str())]);
    let columns = page.session.arrive(&format!("{fixed}/columns")).1;
    let knows_it = !columns.says("does not know");
    assert!(columns.says("dnc.csv") && knows_it, "{}", columns.body);

    // As a newer version of a list without it, they bring it too.
    let other = page.prepare(&folder);
    change_lists(&other, "remove-0", None);
    let address = format!("{other}/list");
    let version = page.session.arrive(&address).1.field("version");
    let fields = [("version", version.as_str())];
    page.session.upload(&address, &fields, Some(&to_fix));
    let send = page.session.arrive(&format!("{other}/send")).1;
    assert!(send.says("dnc.csv"), "{}", send.body);
}

#[test]
fn rows_to_fix_name_no_flag() {
    use calamine::Reader;
    let folder = Folder::with_leads(&(contacts(9) + "07911 123456,Eve\n"));
    let service = service();
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    assert!(page.end(&list).says("Sent"));
    let file = folder_of(&folder, &list);
    let file = below(&file).into_iter();
    let mut file = file.filter(|path| path.to_string_lossy().ends_with(".rows-to-fix.xlsx"));
    let mut workbook = calamine::open_workbook_auto(file.next().unwrap()).unwrap();
    let sheet = workbook.worksheet_range_at(0).unwrap().unwrap();
    let error = sheet.get_value((1, 5)).unwrap().to_string();
    assert!(error.contains("“Country”"), "{error}");
}

#[test]
fn a_workbook_that_was_edited_is_not_served_as_that_of_the_run() {
    let folder = Folder::with_leads(&contacts(9));
    let service = service();
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    assert!(page.end(&list).says("Sent"));
    let is_workbook = |path: &PathBuf| path.to_string_lossy().ends_with(".results.xlsx");
    let of_list = folder_of(&folder, &list);
    let workbook = || below(&of_list).into_iter().find(is_workbook);
    wait_until("the workbook", || {
        page.session.get("history/1/files/results.xlsx").status == 200 && workbook().is_some()
    });
    wait_until("the list is gone", || {
        !below(&of_list)
            .iter()
            .any(|path| path.ends_with("leads.csv"))
    });
    fs::write(workbook().unwrap(), "edited").unwrap();
    let answer = page.session.get("history/1/files/results.xlsx");
    assert!(answer.says("no longer as it was made"), "{}", answer.body);
    assert!(!page.session.get("history/1").says("results.xlsx"));
}

/// All files in a folder and in those below it.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.flat_map(|path| match path.is_dir() {
        true => below(&path),
        false => vec![path],
    });
    files.collect()
}

#[test]
fn a_list_of_more_than_2_gb_is_refused_and_nothing_of_it_is_kept() {
    let folder = Folder::new();
    let service = service();
    let page = Page::start(&folder, &service);
    let large = folder.path("large.csv");
    // It takes no room on the disk.
    let file = fs::File::create(&large).unwrap();
    file.set_len((2 << 30) + (4 << 20)).unwrap();
    let answer = page.session.upload("list", &[], Some(&large));
    assert_eq!(answer.status, 422);
    assert!(answer.says("2 GB"), "{}", answer.body);
    assert_eq!(kept(&folder.home()), (0, 0));
}

/// What the page keeps of the list with this number.
fn folder_of(folder: &Folder, list: &str) -> PathBuf {
    fn lists_in(folder: &Path) -> Option<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        paths.find_map(|path| match path.ends_with("lists") {
            true => Some(path),
            false => lists_in(&path),
        })
    }
    let (_, number) = list.split_once('/').unwrap();
    lists_in(&folder.home()).unwrap().join(number)
}

/// How many CSV files and how many workbooks are kept.
fn kept(folder: &Path) -> (usize, usize) {
    let files = below(folder);
    let ending = |ending: &str| {
        let has = |path: &&PathBuf| path.extension().is_some_and(|end| end == ending);
        files.iter().filter(has).count()
    };
    (ending("csv"), ending("xlsx"))
}

#[test]
fn what_is_kept_of_a_run_goes_when_it_is_forgotten_or_pruned() {
    let folder = Folder::with_leads(&contacts(60));
    let service = scenario(SLOW);
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    send_some(&page, &list);
    folder.write("leads.csv", contacts(70));
    use_newer_version(&page, &folder, &list);
    page.send(&list, &[]);
    assert!(page.end(&list).says("Sent"));
    let own = folder_of(&folder, &list);
    // The list goes once the workbook has it.
    wait_until("gone", || kept(&own) == (2, 1));
    page.kill();

    folder.leadload(&["runs", "forget", "1", "--yes"]).expect(0);
    assert_eq!(kept(&own), (1, 1));
    let page = Page::start(&folder, &service);
    assert_eq!(page.session.get("history/2/files/results.csv").status, 200);
    folder
        .leadload(&["runs", "prune", "--older-than", "0s"])
        .expect(0);
    assert!(!own.exists());
    let history = page.session.get("history/2");
    assert!(
        history.link("/files/results.csv").is_none(),
        "{}",
        history.body
    );
}

#[test]
fn a_draft_is_offered_for_30_days() {
    let folder = Folder::with_leads(&contacts(5));
    let service = service();
    let page = Page::start(&folder, &service);
    let lists = [page.prepare(&folder), page.prepare(&folder)];
    page.kill();
    for (list, days) in lists.iter().zip([29, 31]) {
        let record = folder_of(&folder, list).join("job.json");
        let text = fs::read_to_string(&record).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let then = Timestamp::now() - Duration::from_secs(days * 24 * 3600);
        json["made_at"] = then.to_string().into();
        fs::write(record, json.to_string()).unwrap();
    }
    let page = Page::start(&folder, &service);
    let shown = page.session.get("list");
    assert!(
        shown.link(&format!("{}/campaign", lists[0])).is_some(),
        "{}",
        shown.body
    );
    assert!(
        shown.link(&format!("{}/campaign", lists[1])).is_none(),
        "{}",
        shown.body
    );
    assert!(!folder_of(&folder, &lists[1]).exists());
}

//! Names of campaigns that mean another campaign than before: nobody is called a second time
//! without a word, and nobody is in the way for good.

use std::collections::BTreeSet;

use leadload::sandbox::Sandbox;
use proptest::prelude::*;

use crate::cluster::Cluster;
use crate::terminal::Terminal;
use crate::undo::undo;
use crate::util::{Folder, Output, Run, contacts, number, replaced, scenario, seen, service};

const BY_NAME: [&str; 3] = ["leads.csv", "--campaign", "Spring"];

/// A service whose campaign `Spring` has this id.
fn spring(id: u32) -> String {
    format!("keep_bodies = true\n[[campaign]]\nid = {id}\nname = 'Spring'\n")
}

/// Deletes the campaign, and makes it again.
fn made_anew(service: Sandbox, id: u32) -> Sandbox {
    replaced(service, &spring(id))
}

/// A list whose people were sent to campaign 17, which is 18 now.
fn sent_before(list: &str) -> (Folder, Sandbox) {
    let (folder, service) = (Folder::with_leads(list), scenario(&spring(17)));
    folder.import(&service, &BY_NAME).expect(0);
    (folder, made_anew(service, 18))
}

fn requests(service: &Sandbox) -> u64 {
    service.stats().lead_requests
}

#[test]
fn people_of_the_campaign_of_before_are_not_sent_without_a_word_in_either_ledger() {
    let shared = Cluster::database();
    let urls = [None, shared.as_ref().map(|database| database.url())];
    for url in urls.iter().take(1 + usize::from(shared.is_some())) {
        let at_ledger = |run: Run| match url {
            Some(url) => run.env("LEADLOAD_LEDGER", url),
            None => run,
        };
        let (folder, service) = (Folder::with_leads(&contacts(3)), scenario(&spring(17)));
        let import = |service: &Sandbox, more: &[&str]| {
            at_ledger(folder.import(service, &[&BY_NAME, more].concat()))
        };
        import(&service, &[]).expect(0);
        let service = made_anew(service, 18);
        for more in [&[][..], &["--yes"], &["-q"]] {
            let refused = import(&service, more).expect(2);
            assert_eq!(refused.stdout, "");
            for named in ["`Spring`", " 18 ", " 17 ", "3 leads"] {
                refused.tells(named);
            }
        }
        let check = ["check", "leads.csv", "--campaign", "Spring"];
        let checked = at_ledger(folder.leadload(&check).at(&service)).expect(0);
        checked.tells(" WARN ");
        checked.tells("`--again`");
        checked.tells("3 leads");
        assert_eq!(requests(&service), 0);
        import(&service, &["--again"]).expect(0);
        assert_eq!(requests(&service), 3);
        // The next night is quiet.
        import(&service, &[]).expect(0);
        assert_eq!(requests(&service), 3);
        let quiet = at_ledger(folder.leadload(&check).at(&service)).expect(0);
        assert_eq!(quiet.stderr, "");
    }
}

#[test]
fn who_names_the_campaign_by_its_id_has_said_enough() {
    let (folder, service) = sent_before(&contacts(3));
    let by_id = ["leads.csv", "--campaign", "18"];
    folder.import(&service, &by_id).expect(0);
    assert_eq!(requests(&service), 3);
    folder.import(&service, &BY_NAME).expect(0);
    assert_eq!(requests(&service), 3);
}

#[test]
fn a_campaign_that_is_made_anew_each_week_for_other_people_goes_on_without_a_word() {
    let (folder, mut service) = (Folder::new(), scenario(&spring(17)));
    for week in 0..3 {
        let list = format!("phone\n{}\n{}\n", number(2 * week), number(2 * week + 1));
        folder.write("leads.csv", list);
        folder.import(&service, &BY_NAME).expect(0);
        assert_eq!(requests(&service), 2);
        service = made_anew(service, 18 + week as u32);
    }
}

#[test]
fn another_list_that_has_used_the_name_since_then_changes_nothing() {
    let (folder, service) = sent_before(&contacts(2));
    folder.write("other.csv", format!("phone\n{}\n", number(9)));
    let other = ["other.csv", "--campaign", "Spring"];
    folder.import(&service, &other).expect(0);
    let refused = folder.import(&service, &BY_NAME).expect(2);
    refused.tells("2 leads");
    assert_eq!(requests(&service), 1);
}

#[test]
fn of_the_names_in_a_column_those_count_that_have_moved() {
    let list = format!(
        "phone,list\n{},Spring\n{},Autumn\n{},Spring\n",
        number(0),
        number(1),
        number(2)
    );
    let autumn = "[[campaign]]\nid = 20\nname = 'Autumn'\n";
    let (folder, service) = (Folder::with_leads(&list), scenario(&(spring(17) + autumn)));
    let args = ["leads.csv", "--campaign-column", "list"];
    folder.import(&service, &args).expect(0);
    let service = replaced(service, &(spring(18) + autumn));
    let refused = folder.import(&service, &args).expect(2);
    refused.tells("`Spring`");
    refused.tells("2 leads");
    assert!(!refused.stderr.contains("Autumn"), "{}", refused.stderr);
    let again = [&args[..], &["--again"]].concat();
    folder.import(&service, &again).expect(0);
    let sent: Vec<u64> = seen(&service).iter().map(|lead| lead.campaign).collect();
    assert_eq!(sent, [18, 18]);
}

#[test]
fn people_who_were_forgotten_or_are_not_sent_are_in_nobodys_way() {
    let (folder, service) = sent_before(&contacts(2));
    folder.import(&service, &BY_NAME).expect(2);
    let once = [&BY_NAME[..], &["--once", "service"]].concat();
    folder.import(&service, &once).expect(0);
    assert_eq!(requests(&service), 0);

    let (folder, service) = sent_before(&contacts(2));
    folder.leadload(&["runs", "forget", "1", "--yes"]).expect(0);
    folder.import(&service, &BY_NAME).expect(0);
    assert_eq!(requests(&service), 2);
}

#[test]
fn a_list_that_was_undone_is_not_sent_to_the_campaign_that_has_the_name_now() {
    let shared = Cluster::database();
    let urls = [None, shared.as_ref().map(|database| database.url())];
    let named = format!("phone,list\n{},Spring\n{},Spring\n", number(0), number(1));
    let by_column = ["leads.csv", "--campaign-column", "list"];
    for (list, args) in [(contacts(2), BY_NAME), (named, by_column)] {
        for url in urls.iter().take(1 + usize::from(shared.is_some())) {
            let at_ledger = |run: Run| match url {
                Some(url) => run.env("LEADLOAD_LEDGER", url),
                None => run,
            };
            let (folder, service) = (Folder::with_leads(&list), scenario(&spring(17)));
            let import = |service: &Sandbox, more: &[&str]| {
                at_ledger(folder.import(service, &[&args, more].concat()))
            };
            import(&service, &[]).expect(0);
            at_ledger(undo(&folder, &service, "last", &[])).expect(0);
            let service = made_anew(service, 18);
            for _ in 0..2 {
                let refused = import(&service, &[]).expect(2);
                refused.tells("undone");
            }
            assert_eq!(requests(&service), 0);
            import(&service, &["--again"]).expect(0);
            assert_eq!(requests(&service), 2);
            import(&service, &[]).expect(0);
            assert_eq!(requests(&service), 2);
        }
    }
}

#[test]
fn an_unfinished_run_counts_as_far_as_it_got() {
    let folder = Folder::with_leads(&contacts(5));
    let service = scenario(&format!("token_revoked_after = 2\n{}", spring(17)));
    let one_by_one = [&BY_NAME[..], &["--concurrency", "1"]].concat();
    folder.import(&service, &one_by_one).expect(3);
    let service = made_anew(service, 18);
    let refused = folder.import(&service, &one_by_one).expect(2);
    refused.tells("2 leads");
    assert_eq!(requests(&service), 0);
}

#[test]
fn at_a_terminal_it_is_asked() {
    for (answer, code, sent) in [("n\r", 2, 0), ("y\r", 0, 2)] {
        let (folder, service) = sent_before(&contacts(2));
        let run = folder.import(&service, &BY_NAME);
        let mut terminal = Terminal::start(run, 100, 60);
        terminal.wait_for("`Spring`");
        terminal.answer("[y/N]", answer);
        if sent > 0 {
            terminal.wait_for("ready");
            terminal.answer("[y/N]", "y\r");
        }
        assert_eq!(terminal.end().0, code, "{answer}");
        assert_eq!(requests(&service), sent, "{answer}");
    }
}

#[test]
fn a_name_that_means_what_it_meant_needs_no_look_at_the_list() {
    let (folder, service) = (Folder::with_leads(&contacts(2)), service());
    let by_name = ["leads.csv", "--campaign", "Spring promo"];
    for _ in 0..2 {
        folder.import(&service, &by_name).expect(0);
    }
    assert_eq!(requests(&service), 2);
}

#[test]
fn rejects_go_to_the_campaign_of_their_run_whatever_its_name_means_by_then() {
    let folder = Folder::with_leads("phone\n+447911000001\nx\n");
    let service = scenario(&spring(17));
    folder.import(&service, &BY_NAME).expect(1);
    let fixed = folder
        .read("leads.rejects.csv")
        .replace("\nx,", "\n+447911000002,");
    folder.write("fixed.csv", fixed);
    let both = "[[campaign]]\nid = 17\nname = 'Spring 1'\n";
    let service = replaced(service, &(spring(18) + both));
    folder.import(&service, &["fixed.csv"]).expect(0);
    assert_eq!(folder.column("fixed.results.csv", "campaign_id"), ["17"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each week the campaign may be made anew, and one of two lists is sent, with `--again` or not;
    /// then the ledger may be pruned.
    #[test]
    fn nobody_is_called_again_unless_that_was_said_and_then_nothing_is_in_the_way(
        weeks in prop::collection::vec(any::<(bool, bool, bool, bool)>(), 1..6),
    ) {
        let (folder, mut service) = (Folder::new(), scenario(&spring(17)));
        let names = ["leads.csv", "other.csv"];
        for (list, name) in names.iter().enumerate() {
            folder.write(name, format!("phone\n{}\n", number(list)));
        }
        let mut campaign = 17;
        let mut campaigns_of: [BTreeSet<u32>; 2] = Default::default();
        for (is_made_anew, is_other, is_again, is_pruned) in weeks {
            let list = usize::from(is_other);
            if is_made_anew {
                campaign += 1;
                service = made_anew(service, campaign);
            }
            let mut args = vec![names[list], "--campaign", "Spring"];
            args.extend(is_again.then_some("--again"));
            let before = requests(&service);
            let output: Output = folder.import(&service, &args).output();
            let campaigns = &mut campaigns_of[list];
            let is_new = campaigns.insert(campaign);
            let is_told = is_new && campaigns.len() > 1 && !is_again;
            prop_assert_eq!(output.code, if is_told { 2 } else { 0 }, "{}", output.stderr);
            let sent = u64::from(is_new && !is_told);
            prop_assert_eq!(requests(&service) - before, sent);
            if is_told {
                campaigns.remove(&campaign);
            }
            if is_pruned {
                folder.leadload(&["runs", "prune", "--older-than", "0s"]).expect(0);
            }
        }
    }
}

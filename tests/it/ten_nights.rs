//! The nightly recipe, typed as it stands in the documentation, through ten nights.

use leadload::sandbox::Sandbox;

use crate::recipes::{Ended, commands, docs, read, run, without_limit};
use crate::util::{Folder, contacts, scenario, seen};

struct Job {
    folder: Folder,
    service: Sandbox,
    night: usize,
}

impl Job {
    fn new() -> Job {
        let folder = Folder::new();
        without_limit(&folder);
        folder.write("do-not-call.csv", "phone\n+447911999999\n");
        Job {
            folder,
            service: scenario("any_token = true\nkeep_bodies = true"),
            night: 0,
        }
    }

    /// Types a command of the page, the first that begins so, at a time of this night.
    fn types(&self, start: &str) -> Ended {
        let page = commands(&read(&docs("nightly.md")));
        let command = page.iter().find(|command| command.text.starts_with(start));
        self.types_text(&command.unwrap().text)
    }

    fn types_text(&self, text: &str) -> Ended {
        let index = commands(&read(&docs("README.md")));
        let clock = format!("date() {{ echo night-{:02}; }}", self.night);
        let mut texts: Vec<&str> = index.iter().map(|command| command.text.as_str()).collect();
        texts.extend([clock.as_str(), text]);
        let mut ended = run(&self.folder, &texts, &self.service.base_url());
        ended.pop().unwrap()
    }

    /// The export comes, then the job: its exit code, how many people it has sent, and what it said.
    fn sends(&self, list: &str) -> (i32, u64, String) {
        let part = self.folder.path("all-contacts.csv.part");
        std::fs::write(&part, list).unwrap();
        std::fs::rename(&part, self.folder.path("all-contacts.csv")).unwrap();
        let before = self.service.stats().created;
        let ended = self.types("leadload import all-contacts.csv");
        let sent = self.service.stats().created - before;
        (ended.exit_code, sent, ended.output)
    }

    #[track_caller]
    fn night(&mut self, list: &str, exit_code: i32, sent: u64) {
        self.night += 1;
        let (code, new, said) = self.sends(list);
        let backup = self.types("leadload runs show last");
        assert_eq!((code, new), (exit_code, sent), "{said}");
        assert_eq!(backup.exit_code, 0, "{}", backup.output);
    }
}

#[test]
fn the_nightly_recipe_sends_everybody_once_in_ten_nights_and_nobody_of_a_bad_export() {
    let mut job = Job::new();
    job.folder.write("all-contacts.csv", contacts(40));
    assert_eq!(job.types("leadload check").exit_code, 0);
    job.night(&contacts(40), 0, 40);
    job.night(&contacts(46), 0, 6);

    // The export broke off.
    job.night(&contacts(30), 2, 0);

    // Two columns that nobody has asked to send.
    let more = contacts(48).replace('\n', ",DE00 0000,flu\n");
    let more = more.replacen("DE00 0000,flu", "iban,diagnosis", 1);
    job.night(&more, 0, 2);
    let requests = job.service.requests();
    let has_flu = |body: &[u8]| String::from_utf8_lossy(body).contains("flu");
    assert!(!requests.iter().any(|request| has_flu(&request.body)));
    job.night(&contacts(49), 0, 1);

    // The ledger is gone; an empty one does not replace the copies.
    let ledger = job.folder.ledger();
    std::fs::remove_dir_all(ledger.parent().unwrap()).unwrap();
    job.night += 1;
    let (code, sent, said) = job.sends(&contacts(49));
    assert_eq!((code, sent), (5, 0), "{said}");
    assert_ne!(job.types("leadload runs show last").exit_code, 0);
    assert_eq!(job.types("rm -f").exit_code, 0);
    assert_eq!(job.types("cp ").exit_code, 0);
    let (code, sent, said) = job.sends(&contacts(49));
    assert_eq!((code, sent), (0, 0), "{said}");

    // Every number is broken.
    job.night(&contacts(49).replace("+44791", "x"), 2, 0);

    // One is wrong, comes back as a reject, and is known from then on.
    let with_bob = |people| contacts(people) + "07700 900402,Bob\n";
    job.night(&with_bob(49), 1, 0);
    let rejects = job.folder.read("all-contacts.rejects.csv");
    let fixed = rejects.replace("07700 900402", "+447700900402");
    job.folder.write("all-contacts.rejects.csv", fixed);
    let again = job.types_text("leadload import all-contacts.rejects.csv");
    assert_eq!(again.exit_code, 0, "{}", again.output);
    job.night(&with_bob(49), 0, 0);

    // Another list than expected, then the right one.
    job.night(&with_bob(80), 2, 0);
    let (code, sent, said) = job.sends(&with_bob(52));
    assert_eq!((code, sent), (0, 3), "{said}");

    let numbers = seen(&job.service).into_iter().map(|lead| lead.phone);
    let mut numbers: Vec<String> = numbers.collect();
    numbers.sort();
    numbers.dedup();
    assert_eq!((numbers.len(), job.service.stats().lead_requests), (53, 53));
    assert_eq!(job.night, 10);
}

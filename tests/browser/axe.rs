//! What axe-core finds wrong on a page for people who see, hear or move differently.

use sha2::{Digest, Sha256};

use crate::page::Page;

const AXE: &str = include_str!("axe/axe.min.js");

/// Every rule that axe-core has by default, and the size of what is clicked.
const RUN: &str = "
    const { violations } = await axe.run(document, {
        resultTypes: ['violations'],
        rules: { 'target-size': { enabled: true } },
    });
    return violations.flatMap(({ id, help, nodes }) =>
        nodes.map(({ target }) => `${id}: ${help} (${target.join(' ')})`));";

impl Page<'_> {
    /// One line for each finding: the rule, what it asks for, where.
    #[track_caller]
    pub fn axe(&self) -> Vec<String> {
        // A script of the driver runs whatever the policy of the page is.
        let script = format!("if (!window.axe) {{ {AXE} }}\nreturn (async () => {{ {RUN} }})()");
        serde_json::from_value(self.script(&script)).unwrap()
    }

    /// Checks that it finds nothing, in light and in dark.
    #[track_caller]
    pub fn expect_accessible(&self) {
        for dark in [true, false] {
            self.dark(dark);
            let found = self.axe().join("\n");
            assert!(found.is_empty(), "{} (dark: {dark})\n{found}", self.title());
        }
    }
}

#[test]
fn axe_is_the_version_that_its_readme_names() {
    let sum: String = Sha256::digest(AXE)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let readme = include_str!("axe/README.md");
    assert!(readme.contains(&sum), "{sum}");
    let version = AXE.split([' ', '\n']).nth(2).unwrap();
    let version = version.strip_prefix('v').unwrap();
    assert!(
        readme.contains(&format!("axe-core {version} ")),
        "{version}"
    );
}

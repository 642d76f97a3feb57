//! The password file of PostgreSQL's own programs, `~/.pgpass`: a line for each connection,
//! `host:port:database:user:password`.

use std::mem::take;

/// The password in the first line that fits. `*` fits everything, and a backslash takes the
/// meaning from the character after it.
pub(super) fn password_for(connection: [&str; 4], file: &str) -> Option<String> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    let mut passwords = lines.filter_map(|line| password_in(line, connection));
    passwords.find(|password| !password.is_empty())
}

fn password_in(line: &str, connection: [&str; 4]) -> Option<String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ':' if fields.len() < connection.len() => fields.push(take(&mut field)),
            '\\' => field.extend(characters.next()),
            _ => field.push(character),
        }
    }
    let fits = |(field, wanted): (&String, &str)| field == "*" || field == wanted;
    let is_whole = fields.len() == connection.len();
    (is_whole && fields.iter().zip(connection).all(fits)).then_some(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let file = "# db:5432:leads:ada:comment\n\
            db:5432:leads:bob:of bob\n\
            db:5433:*:ada:of another port\r\n\
            db:*:leads:ada:a:b\\\\c\\:d\n\
            *:*:*:ada:of the rest\n\
            \\:\\:1:5432:leads:cleo:of loopback\n\
            db:5432:leads:dan:\n\
            db:5432:leads";
        for (connection, password) in [
            (["db", "5432", "leads", "bob"], Some("of bob")),
            (["db", "5433", "leads", "ada"], Some("of another port")),
            (["db", "5432", "leads", "ada"], Some("a:b\\c:d")),
            (["db", "5432", "other", "ada"], Some("of the rest")),
            (["::1", "5432", "leads", "cleo"], Some("of loopback")),
            (["db", "5432", "leads", "dan"], None),
            (["db", "5432", "leads", "eve"], None),
        ] {
            assert_eq!(password_for(connection, file).as_deref(), password);
        }
    }
}

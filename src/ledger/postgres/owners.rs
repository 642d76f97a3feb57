//! Whose the ledger is.
//!
//! Whoever owns a table decides what is called when it is read and written: triggers, rules, policies,
//! and functions in indexes and checks, all with the rights of whoever reads or writes; so does whoever owns
//! a table that refers to one of the ledger, where rows go with those that they refer to. So a ledger is
//! used only where all of it belongs to this role, to a role whose rights it has (colleagues share one
//! that way), or to a superuser, who needs no trick. To the program a superuser has the rights of
//! those roles alone that it is a member of. A membership counts if an administrator has given it: up
//! to PostgreSQL 14 every role can make others members of itself.
//!
//! A role that can change nothing, and could make no ledger here, may read the tables of others: that is how
//! somebody only looks. Functions of others are refused there too, and so are views, rules and policies,
//! which may call them by many others.

use crate::ledger::row::Row;
use crate::ledger::store::Failed;

/// Whether there are tables; and something of a stranger with its owner and the role that asks, empty if
/// all is well. What depends on a table and on a function or an operator is called for the table. A
/// session remembers which names meant nothing (`to_regclass` asks that cache), so the catalogue itself is
/// read.
pub(super) const FIND: &str = "
WITH RECURSIVE own (role) AS (
    SELECT oid FROM pg_roles WHERE rolname = current_user
    UNION
    SELECT roleid FROM pg_auth_members JOIN own ON member = own.role
        JOIN pg_roles AS by ON by.oid = grantor
    WHERE pg_has_role(roleid, 'USAGE') AND (by.rolsuper OR by.rolcreaterole)
), ledger AS (
    SELECT oid, nspowner FROM pg_namespace WHERE nspname = 'leadload'
), relations AS (
    SELECT c.oid, relname, relowner, relkind,
        relkind NOT IN ('r', 'S', 'i') OR relrowsecurity OR relhasrules AS is_called
    FROM pg_class AS c JOIN ledger ON relnamespace = ledger.oid
), things (what, owner, is_called) AS (
    SELECT 'the schema `leadload`', nspowner, false FROM ledger
    UNION ALL
    SELECT format('`leadload.%s`', relname), relowner, is_called FROM relations
    UNION ALL
    SELECT format('`%s`, which is called for `leadload.%s`,',
            coalesce(f.oid::regprocedure::text, o.oid::regoperator::text), relname),
        coalesce(proowner, oprowner), true
    FROM relations
    JOIN pg_depend AS is_of ON is_of.refclassid = 'pg_class'::regclass AND is_of.refobjid = relations.oid
    JOIN pg_depend AS calls ON calls.classid = is_of.classid AND calls.objid = is_of.objid
        AND calls.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
    LEFT JOIN pg_proc AS f ON calls.refclassid = 'pg_proc'::regclass AND f.oid = calls.refobjid
    LEFT JOIN pg_operator AS o ON calls.refclassid = 'pg_operator'::regclass AND o.oid = calls.refobjid
    UNION ALL
    SELECT format('`%s`, which refers to `leadload.%s`,', r.oid::regclass, relations.relname), r.relowner, true
    FROM relations JOIN pg_constraint ON confrelid = relations.oid JOIN pg_class AS r ON r.oid = conrelid
    WHERE r.oid NOT IN (SELECT oid FROM relations)
), strange AS (
    SELECT what, owner FROM things
    WHERE owner NOT IN (SELECT role FROM own UNION ALL SELECT oid FROM pg_roles WHERE rolsuper)
        AND (is_called OR has_database_privilege(current_database(), 'CREATE')
            OR has_schema_privilege((SELECT oid FROM ledger), 'CREATE')
            OR EXISTS (
                SELECT FROM relations WHERE relkind NOT IN ('S', 'i')
                    AND has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
            ))
    ORDER BY what DESC LIMIT 1
)
SELECT EXISTS (SELECT FROM relations WHERE relname = 'about'),
    (SELECT what FROM strange), (SELECT pg_get_userbyid(owner)::text FROM strange), current_user::text";

/// Something in the ledger that belongs to a role which may not decide for this one.
#[derive(Debug)]
pub(super) struct Stranger {
    pub(super) what: String,
    pub(super) owner: String,
    /// The role that this program works as.
    pub(super) role: String,
}

impl Stranger {
    /// Reads the answer to [`FIND`] after its first column.
    pub(super) fn of(row: &Row<'_>) -> Result<Option<Stranger>, Failed> {
        let (what, owner): (Option<String>, Option<String>) = (row.get(1)?, row.get(2)?);
        let role = row.get(3)?;
        let found = what.zip(owner);
        Ok(found.map(|(what, owner)| Stranger { what, owner, role }))
    }
}

use crate::intake::{Batch, Intake, PlannedInput};
use crate::lead::RowId;
use crate::api::wire::LeadForm;
#[derive(Debug, Default)]
pub struct FixableRows(Vec<FixableRow>, u64);
#[derive(Debug)]
pub struct FixableRow { pub row: RowId, pub line: u64, pub column: usize, pub cell: String, pub others: Vec<(String, String)>, pub error: String }
impl FixableRows {
    pub fn note(&mut self, _p: &PlannedInput, _b: &Batch) {}
    pub fn rows(&self) -> &[FixableRow] { &self.0 }
    pub fn total(&self) -> u64 { self.1 }
}
impl FixableRow { pub fn read_corrected(&self, _i: &Intake, _t: &str) -> Result<(), String> { Ok(()) } }
#[derive(Debug, Default)]
pub struct Previews { first: Option<Preview> }
#[derive(Debug)]
pub struct Preview { pub line: u64, pub body: String }
impl Previews {
    pub fn note(&mut self, _p: &PlannedInput, _b: &Batch, _f: LeadForm) {}
    pub fn first(&self) -> Option<&Preview> { self.first.as_ref() }
    pub fn emptiest(&self) -> Option<&Preview> { None }
    pub fn people(&self) -> &[Vec<(String, String)>] { &[] }
}

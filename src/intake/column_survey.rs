use super::InspectedInput;
use crate::source::SourceError;
#[derive(Debug, Default)]
pub struct ColumnSurvey { pub rows: u64 }
impl ColumnSurvey {
    pub fn of(_list: &InspectedInput, _progress: impl FnMut(u64) -> bool) -> Result<ColumnSurvey, SourceError> { Ok(ColumnSurvey::default()) }
    pub fn filled(&self, _column: usize) -> u64 { 0 }
    pub fn values(&self, _column: usize) -> Option<&[(String, u64)]> { None }
}
impl InspectedInput { pub fn labels(&self) -> Vec<String> { Vec::new() } }

//! What the columns of a whole list hold, before anybody says what they mean.
//!
//! People choose columns by how many cells they fill, and values by how often they occur. The
//! first rows do not tell: the test leads of an export may be the last ones. Memory is bounded:
//! a column with many values, or with long ones, has no list of them.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::InspectedInput;
use crate::source::{Row, SourceError};

/// A column with more values than this is not one to choose rows by.
const MAX_VALUES: usize = 100;

/// A column with a value of more characters than this is not one either.
const MAX_CHARACTERS: usize = 100;

/// How many spellings of its values are looked up for each column, and the most bytes of one. All
/// others are compared each time.
const MAX_SPELLINGS: usize = 400;
const MAX_SPELLING_BYTES: usize = 400;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnSurvey {
    /// How many data rows there are.
    pub rows: u64,
    /// One for each column of the header.
    pub columns: Vec<SurveyedColumn>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SurveyedColumn {
    /// How many cells have something else than white space in them.
    pub filled: u64,
    /// The values of the filled cells, most frequent first; `None` if there are many, or long
    /// ones. Cells are equal as `--only` compares them: in any case, without spaces around them.
    pub values: Option<Vec<ColumnValue>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnValue {
    /// As the first cell spells it.
    pub text: String,
    pub rows: u64,
}

impl InspectedInput {
    /// Reads the whole input. Calls `goes_on` with the number of rows read so far, again and
    /// again; once it returns false, reading ends and there is no survey.
    pub fn survey_columns(
        &self,
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> Result<Option<ColumnSurvey>, SourceError> {
        let mut columns = vec![Column::default(); self.header.names.len()];
        let mut rows = 0;
        for batch in self.input.read_list(&self.form, &self.header)?.batches() {
            let batch = batch?;
            for row in batch.rows() {
                let columns = columns.iter_mut().enumerate();
                columns.for_each(|(at, column)| column.count(row, at));
            }
            rows += batch.len() as u64;
            if !goes_on(rows) {
                return Ok(None);
            }
        }
        let columns = columns.into_iter().map(Column::surveyed).collect();
        Ok(Some(ColumnSurvey { rows, columns }))
    }
}

/// A column of which a part has been read.
#[derive(Debug, Clone)]
struct Column {
    filled: u64,
    /// `None` once there are too many.
    values: Option<Values>,
}

impl Default for Column {
    fn default() -> Column {
        Column {
            filled: 0,
            values: Some(Values::default()),
        }
    }
}

impl Column {
    fn count(&mut self, row: Row<'_>, column: usize) {
        let cell = row.cell(column).unwrap_or_default();
        // Nearly every cell begins with a letter or a digit.
        if cell.first().is_some_and(u8::is_ascii_graphic) && self.values.is_none() {
            self.filled += 1;
            return;
        }
        let text = row.lossy(column);
        if text.trim().is_empty() {
            return;
        }
        self.filled += 1;
        let fits = |values: &mut Values| values.count(&text).is_some();
        self.values.take_if(|values| !fits(values));
    }

    fn surveyed(self) -> SurveyedColumn {
        let values = self.values.map(|mut values| {
            values.list.sort_by_key(|value| Reverse(value.rows));
            values.list
        });
        SurveyedColumn {
            filled: self.filled,
            values,
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Values {
    list: Vec<ColumnValue>,
    /// Where a value is in the list, by its text in lower case.
    places: HashMap<String, usize>,
    /// Where the value of a cell is in the list, by the cell as it is spelled.
    spellings: HashMap<String, usize>,
}

impl Values {
    /// Counts a cell; `None` if it is one value too many, or too long.
    fn count(&mut self, cell: &str) -> Option<()> {
        let place = match self.spellings.get(cell) {
            Some(place) => *place,
            None => self.place(cell)?,
        };
        self.list[place].rows += 1;
        Some(())
    }

    fn place(&mut self, cell: &str) -> Option<usize> {
        let text = cell.trim();
        if text.chars().nth(MAX_CHARACTERS).is_some() {
            return None;
        }
        let key = text.to_lowercase();
        let place = match self.places.get(&key) {
            Some(place) => *place,
            None if self.list.len() == MAX_VALUES => return None,
            None => {
                self.places.insert(key, self.list.len());
                self.list.push(ColumnValue {
                    text: text.to_owned(),
                    rows: 0,
                });
                self.list.len() - 1
            }
        };
        if self.spellings.len() < MAX_SPELLINGS && cell.len() <= MAX_SPELLING_BYTES {
            self.spellings.insert(cell.to_owned(), place);
        }
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::source::{FormChoice, Input};

    fn inspected(text: &str) -> InspectedInput {
        let choice = FormChoice {
            delimiter: Some(b','),
            encoding: Some(encoding_rs::UTF_8.into()),
            ..FormChoice::default()
        };
        InspectedInput::new(Input::of_text(text), &choice).unwrap()
    }

    fn surveyed(text: &str) -> ColumnSurvey {
        inspected(text).survey_columns(|_| true).unwrap().unwrap()
    }

    fn shown(column: &SurveyedColumn) -> Option<Vec<String>> {
        let values = column.values.as_ref()?.iter();
        Some(
            values
                .map(|value| format!("{} {}", value.rows, value.text))
                .collect(),
        )
    }

    #[test]
    fn cells_are_counted_and_values_are_compared_as_rows_are_chosen() {
        let found = surveyed(
            "phone,consent,note\n1, Yes,\n2,yes ,  \n3,no\n4,YES,\u{a0}\n5,,x,beyond\n6,Straße,\n",
        );
        assert_eq!(found.rows, 6);
        let filled: Vec<u64> = found.columns.iter().map(|column| column.filled).collect();
        assert_eq!(filled, [6, 5, 1]);
        let consent = ["3 Yes", "1 no", "1 Straße"].map(str::to_owned);
        assert_eq!(shown(&found.columns[1]).unwrap(), consent);
        assert_eq!(shown(&found.columns[2]).unwrap(), ["1 x"]);
    }

    #[test]
    fn a_column_of_many_or_long_values_has_no_list_of_them() {
        let mut text = "a,b,c,d\n".to_owned();
        for row in 0..=MAX_VALUES {
            let long = "é".repeat(if row == 0 { MAX_CHARACTERS + 1 } else { 1 });
            let fits = "é".repeat(MAX_CHARACTERS);
            writeln!(text, "{row},{},{long},{fits}", row % MAX_VALUES).unwrap();
        }
        let found = surveyed(&text);
        let values = found.columns.iter().map(|c| Some(c.values.as_ref()?.len()));
        assert_eq!(values.collect::<Vec<_>>(), [None, Some(100), None, Some(1)]);
        assert!(found.columns.iter().all(|column| column.filled == 101));
    }

    #[test]
    fn a_survey_tells_how_far_it_is_and_can_be_ended() {
        let list = inspected(&("phone\n".to_owned() + &"1\n".repeat(5000)));
        let mut told = Vec::new();
        list.survey_columns(|rows| {
            told.push(rows);
            true
        })
        .unwrap();
        assert_eq!(told, [2048, 4096, 5000]);
        assert_eq!(list.survey_columns(|_| false).unwrap(), None);
    }

    proptest! {
        #[test]
        fn a_survey_counts_what_a_plain_count_does(
            cells in prop::collection::vec("[ aAbB\u{a0}éÉ]{0,3}", 0..60),
        ) {
            let mut text = "phone,x\n".to_owned();
            cells.iter().for_each(|cell| writeln!(text, "1,{cell}").unwrap());
            let found = surveyed(&text);
            let mut plain: BTreeMap<String, u64> = BTreeMap::new();
            for cell in &cells {
                *plain.entry(cell.trim().to_lowercase()).or_default() += 1;
            }
            plain.remove("");
            prop_assert_eq!(found.columns[1].filled, plain.values().sum::<u64>());
            let values = found.columns[1].values.iter().flatten();
            let values = values.map(|value| (value.text.to_lowercase(), value.rows));
            prop_assert_eq!(values.collect::<BTreeMap<String, u64>>(), plain);
        }
    }
}

//! One cell to text.

use std::fmt::Write;

use calamine::{Data, DataRef};

use super::time;

/// Appends the text of a cell. A number is written in plain digits, however the sheet
/// shows it: a phone number of twelve digits is shown as `4.47911E+11` in a narrow column.
pub(super) fn push_text(out: &mut String, cell: &DataRef<'_>) {
    match cell {
        DataRef::Empty => {}
        DataRef::String(text) => out.push_str(text),
        DataRef::SharedString(text) => out.push_str(text),
        DataRef::Int(number) => push_displayed(out, number),
        DataRef::Float(number) => time::push_number(out, *number),
        DataRef::Bool(true) => out.push_str("TRUE"),
        DataRef::Bool(false) => out.push_str("FALSE"),
        DataRef::DateTime(time) => time::push_serial(out, time),
        DataRef::DateTimeIso(text) => time::push_iso(out, text),
        DataRef::DurationIso(text) => time::push_iso_duration(out, text),
        DataRef::Error(error) => push_displayed(out, error),
    }
}

/// The cell in the form that [`push_text`] takes.
pub(super) fn borrowed(cell: &Data) -> DataRef<'_> {
    match cell {
        Data::Empty => DataRef::Empty,
        Data::String(text) => DataRef::SharedString(text),
        Data::Int(number) => DataRef::Int(*number),
        Data::Float(number) => DataRef::Float(*number),
        Data::Bool(truth) => DataRef::Bool(*truth),
        Data::DateTime(time) => DataRef::DateTime(*time),
        Data::DateTimeIso(text) => DataRef::DateTimeIso(text.clone()),
        Data::DurationIso(text) => DataRef::DurationIso(text.clone()),
        Data::Error(error) => DataRef::Error(error.clone()),
    }
}

fn push_displayed(out: &mut String, value: &dyn std::fmt::Display) {
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{value}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use calamine::CellErrorType;
    use proptest::prelude::*;

    fn text(cell: &DataRef<'_>) -> String {
        let mut out = String::new();
        push_text(&mut out, cell);
        out
    }

    #[test]
    fn a_number_stored_as_a_number_has_no_exponent_and_no_point_zero() {
        for (number, expected) in [
            (447_911_123_456.0, "447911123456"),
            (1e21, "1000000000000000000000"),
            (4.479_111_234_567_8E+14, "447911123456780"),
            (0.1 + 0.2, "0.30000000000000004"),
            (-12.5, "-12.5"),
            (1e-7, "0.0000001"),
            (-0.0, "0"),
            (f64::NAN, "#NUM!"),
        ] {
            assert_eq!(text(&DataRef::Float(number)), expected);
        }
        assert_eq!(text(&DataRef::Int(-7)), "-7");
    }

    #[test]
    fn truths_and_errors_read_as_the_sheet_shows_them() {
        assert_eq!(text(&DataRef::Bool(true)), "TRUE");
        assert_eq!(text(&DataRef::Bool(false)), "FALSE");
        assert_eq!(text(&DataRef::Error(CellErrorType::NA)), "#N/A");
        assert_eq!(text(&DataRef::Error(CellErrorType::Div0)), "#DIV/0!");
        assert_eq!(text(&DataRef::Empty), "");
    }

    proptest! {
        #[test]
        fn any_number_reads_back_as_itself(number in any::<f64>()) {
            let text = text(&DataRef::Float(number));
            prop_assert!(!text.contains(['e', 'E']) && !text.ends_with(".0"), "{}", text);
            prop_assert_eq!(text.parse::<f64>().unwrap(), number);
        }
    }
}

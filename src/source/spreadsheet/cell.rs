//! Writes one cell as text.

use std::fmt::Write;

use calamine::DataType;

use super::time;

/// Appends the text of a cell. A number is written in plain digits, however the sheet shows
/// it: in a narrow column, a phone number of twelve digits is shown as `4.47911E+11`.
pub(super) fn push_text(out: &mut String, cell: &impl DataType) {
    if let Some(text) = cell.get_string() {
        out.push_str(text);
    } else if let Some(number) = cell.get_float() {
        time::push_number(out, number);
    } else if let Some(number) = cell.get_int() {
        let _ = write!(out, "{number}");
    } else if let Some(truth) = cell.get_bool() {
        out.push_str(if truth { "TRUE" } else { "FALSE" });
    } else if let Some(time) = cell.get_datetime() {
        time::push_serial(out, &time);
    } else if let Some(text) = cell.get_datetime_iso() {
        time::push_iso(out, text);
    } else if let Some(text) = cell.get_duration_iso() {
        time::push_iso_duration(out, text);
    } else if let Some(error) = cell.get_error() {
        let _ = write!(out, "{error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calamine::{CellErrorType, DataRef};
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
    fn booleans_and_errors_read_as_the_sheet_shows_them() {
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

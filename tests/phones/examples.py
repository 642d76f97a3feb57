"""Google's example numbers and how Google reads them: what the tests compare with."""
import csv

import phonenumbers
from phonenumbers import PhoneNumberFormat as Format
from phonenumbers import PhoneNumberType as Type

from plans import WORLD, metadata

LINES = {
    Type.MOBILE: "mobile", Type.FIXED_LINE: "fixed",
    Type.FIXED_LINE_OR_MOBILE: "fixed_or_mobile", Type.TOLL_FREE: "toll_free",
    Type.PREMIUM_RATE: "premium", Type.SHARED_COST: "shared_cost", Type.VOIP: "voip",
    Type.PERSONAL_NUMBER: "personal", Type.PAGER: "pager", Type.UAN: "uan",
    Type.VOICEMAIL: "voicemail", Type.UNKNOWN: "unknown",
}
PATTERNS = ["general_desc", "fixed_line", "mobile", "toll_free", "premium_rate",
            "shared_cost", "personal_number", "voip", "pager", "uan", "voicemail"]
HEADER = ["region", "international", "national", "rfc3966", "e164", "with_plus",
          "with_region", "possible", "valid", "country", "line"]


def write(path, version):
    """Writes a row for each example and returns how many there are."""
    rows = []
    for code, regions in sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items()):
        for region in regions:
            for national in _examples(metadata(code, region)):
                rows.append(_row(code, region, national))
    with open(path, "w", encoding="utf-8", newline="") as out:
        out.write(f"# Made by generate.py from phonenumbers {version}; README.md says what the columns mean.\n")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(rows)
    return len(rows)


def _examples(data):
    """The example numbers of a region, and each with a digit too few and too many."""
    found = {}
    for name in PATTERNS:
        desc = getattr(data, name)
        if desc is not None and desc.example_number:
            found[desc.example_number] = None
    for number in list(found):
        found[number[:-1]] = None
        found[number + "0"] = None
    return found


def _row(code, region, national):
    number = phonenumbers.parse(f"+{code}{national}")
    forms = [phonenumbers.format_number(number, form)
             for form in (Format.INTERNATIONAL, Format.NATIONAL, Format.RFC3966)]
    country = phonenumbers.region_code_for_number(number)
    e164 = phonenumbers.format_number(number, Format.E164)
    return [
        region, *forms, e164,
        _read(forms[0], None, e164),
        "-" if region == WORLD else _read(forms[1], region, e164),
        _flag(phonenumbers.is_possible_number_with_reason(number) == phonenumbers.ValidationResult.IS_POSSIBLE),
        _flag(phonenumbers.is_valid_number(number)),
        "-" if country in (None, WORLD) else country,
        LINES[phonenumbers.number_type(number)],
    ]


def _flag(truth):
    return "yes" if truth else "no"


def _read(text, region, e164):
    """What Google makes of the text (`=`: the number itself), and how good that is."""
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return "-"
    # Canada's 310-1234 is valid and yet too short to be possible, Google says.
    if phonenumbers.is_possible_number_with_reason(number) != phonenumbers.ValidationResult.IS_POSSIBLE:
        grade = "impossible"
    else:
        grade = "valid" if phonenumbers.is_valid_number(number) else "possible"
    read = phonenumbers.format_number(number, Format.E164)
    return f"{'=' if read == e164 else read} {grade}"

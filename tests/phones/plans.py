"""The numbering plan of each calling code, as the program needs it: a table in Rust."""
import phonenumbers
from phonenumbers.phonemetadata import PhoneMetadata

from automaton import DIGITS, LONGEST, Automaton

# In the order of the Rust enum `LineKind`.
LINES = ["mobile", "fixed", "fixed_or_mobile", "toll_free", "premium", "shared_cost",
         "voip", "personal", "pager", "uan", "voicemail", "satellite", "unknown"]
UNKNOWN = LINES.index("unknown")
# The names of the metadata, in the order in which Google looks at them.
SPECIAL = [("premium_rate", "premium"), ("toll_free", "toll_free"),
           ("shared_cost", "shared_cost"), ("voip", "voip"),
           ("personal_number", "personal"), ("pager", "pager"), ("uan", "uan"),
           ("voicemail", "voicemail")]
# Where the plans themselves say something else than Google's metadata: by calling code, a pattern
# of national numbers and their line.
# - Global Mobile Personal Communications by Satellite has +870 (Inmarsat) and +881 (Iridium,
#   Globalstar), and of the networks of +882 Thuraya has 16 and EMSAT 13 (ITU-T, "List of ITU-T
#   Recommendation E.164 assigned country codes" and its notes on shared codes). Google knows no
#   satellites, and says mobile or VoIP.
# - Italy: 899 is for premium services (AGCOM, numbering plan, annex A of 26/08/CIR). With a 0
#   before it Google takes it for a landline of Salerno, whose area code is 089; it counts as premium
#   here as well, by a user's report: the plan's own word on 0899 was not at hand. What surely is a
#   landline there stays one: 089 96 is the university.
CORRECTIONS = {
    39: [(r"0899[0-57-9]\d{3,6}", "premium")],
    870: [(r"\d+", "satellite")],
    881: [(r"\d+", "satellite")],
    882: [(r"1[36]\d+", "satellite")],
}
PATTERNS = ["general_desc", "fixed_line", "mobile"] + [name for name, _ in SPECIAL]
WORLD = "001"
# Below: an answer. From here on: the place of a node.
FIRST_NODE = 512
MAX_DIGITS = 15


def metadata(code, region):
    if region == WORLD:
        return PhoneMetadata.metadata_for_nongeo_region(code, None)
    return PhoneMetadata.metadata_for_region(region, None)


class Nodes:
    """Decision nodes of all plans; equal ones are kept once."""

    def __init__(self):
        self.places = {}

    def of(self, children):
        """What ten outcomes come to: an answer if they all are that, or else a node.

        Ten times the same node is a node too: it stands for one digit more.
        """
        if len(set(children)) == 1 and children[0] < FIRST_NODE:
            return children[0]
        return self.places.setdefault(children, FIRST_NODE + len(self.places))

    def depth(self, reference):
        depths = []
        for children in self.places:
            below = [depths[c - FIRST_NODE] if c >= FIRST_NODE else 0 for c in children]
            depths.append(1 + max(below))
        return depths[reference - FIRST_NODE] if reference >= FIRST_NODE else 0


class Plan:
    """What is known of the numbers that begin with one calling code."""

    def __init__(self, code):
        self.code = code
        self.regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE[code]
        self.all = [metadata(code, region) for region in self.regions]
        self.main = self.all[0]
        local = set(self.main.general_desc.possible_length_local_only)
        self.lengths = set(self.main.general_desc.possible_length) - local
        self.longest = MAX_DIGITS - len(str(code))
        self.usual = max(map(len, self._usual_numbers()))

    def _usual_numbers(self):
        """Google's examples of landlines and mobile numbers; of any line where it has neither."""
        for names in (["fixed_line", "mobile"], PATTERNS):
            lines = [getattr(data, name) for data in self.all for name in names]
            found = [line.example_number for line in lines if line and line.example_number]
            if found:
                return found

    # Country and line.

    def roots(self, nodes):
        """For each length of the national number: the node that decides."""
        automaton, patterns = Automaton(), []
        for place, data in enumerate(self.all):
            if data.leading_digits:
                patterns.append((place, "leading_digits", None, automaton.add(data.leading_digits, True)))
            for name in PATTERNS:
                desc = getattr(data, name)
                if desc is None or desc.national_number_pattern is None:
                    continue
                lengths = desc.possible_length or data.general_desc.possible_length
                patterns.append((place, name, lengths, automaton.add(desc.national_number_pattern)))
        for pattern, line in CORRECTIONS.get(self.code, []):
            patterns.append((0, line, None, automaton.add(pattern)))
        return [self._root(nodes, automaton, patterns, length) for length in range(self.longest + 1)]

    def _root(self, nodes, automaton, patterns, length):
        fitting = [p for p in patterns if p[2] is None or length in p[2]]
        names = {last: (place, name) for place, name, _, (_, last) in fitting}
        known = {}

        def outcome(states, left):
            if (states, left) not in known:
                if left == 0:
                    found = self._answer({names[s] for s in states if s in names})
                else:
                    found = nodes.of(tuple(outcome(automaton.after(states, d), left - 1) for d in DIGITS))
                known[states, left] = found
            return known[states, left]

        return outcome(automaton.begin([first for *_, (first, _) in fitting]), length)

    def _answer(self, matched):
        """Country (0: none) and line of a number that matches these patterns."""
        if len(self.regions) == 1:
            slot = 0 if self.regions[0] == WORLD else 1
            return slot << 4 | self._line(0, matched)
        for place in range(len(self.regions)):
            line = self._line(place, matched)
            if (place, "leading_digits") in matched or line != UNKNOWN:
                return (place + 1) << 4 | line
        return UNKNOWN

    @staticmethod
    def _line(place, matched):
        """The line of a number; a correction applies only to a number in use."""
        line = Plan._line_of_google(place, matched)
        corrected = [own for own in ("premium", "satellite") if (place, own) in matched]
        return LINES.index(corrected[0]) if corrected and line != UNKNOWN else line

    @staticmethod
    def _line_of_google(place, matched):
        if (place, "general_desc") not in matched:
            return UNKNOWN
        for name, line in SPECIAL:
            if (place, name) in matched:
                return LINES.index(line)
        fixed, mobile = (place, "fixed_line") in matched, (place, "mobile") in matched
        word = {(True, True): "fixed_or_mobile", (True, False): "fixed", (False, True): "mobile"}
        return LINES.index(word.get((fixed, mobile), "unknown"))

    # The national prefix.

    def prefix_beginnings(self):
        """Ranges of the first three digits that a national prefix can begin with."""
        pattern = self.main.national_prefix_for_parsing
        if not pattern:
            return []
        automaton = Automaton()
        first, last = automaton.add(pattern)
        found = set()

        def walk(states, text):
            if not states:
                return
            # What is matched already stays matched, whatever the later digits are.
            if len(text) == 3 or (text and last in states):
                found.update(range(int(text.ljust(3, "0")), int(text.ljust(3, "9")) + 1))
            if len(text) < 3:
                for digit in DIGITS:
                    walk(automaton.after(states, digit), text + str(digit))

        walk(automaton.begin([first]), "")
        return _ranges(found)

    def has_plain_zero(self):
        """Whether `0` and another digit than `0` are this prefix and nothing else."""
        pattern = self.main.national_prefix_for_parsing
        if not pattern:
            return False
        automaton, abroad = Automaton(), Automaton()
        first, last = automaton.add(pattern)
        zero = automaton.after(automaton.begin([first]), 0)
        zero_abroad = abroad.after(abroad.begin([abroad.add(self.main.international_prefix)[0]]), 0)
        return (last in zero and not any(automaton.after(zero, d) for d in DIGITS)
                and not any(abroad.after(zero_abroad, d) for d in DIGITS if d))

    def prefix_lengths(self):
        """Lengths of national numbers that lose or change a prefix in Google's reading."""
        pattern = self.main.national_prefix_for_parsing
        every = set(range(self.longest + 1))
        if not pattern:
            return set()
        if self.main.national_prefix_transform_rule:
            return every
        return {n for n in every if any(self._may_remain(n - m) for m in _match_lengths(pattern))}

    def _may_remain(self, length):
        """Whether Google takes off a prefix that leaves so many digits."""
        return length in self.lengths or length > max(self.main.general_desc.possible_length)


def _match_lengths(pattern):
    automaton = Automaton()
    first, last = automaton.add(pattern)
    states, found = automaton.begin([first]), set()
    for length in range(1, LONGEST + 1):
        states = frozenset().union(*(automaton.after(states, d) for d in DIGITS))
        if last in states:
            found.add(length)
    return found


def _ranges(numbers):
    ranges = []
    for n in sorted(numbers):
        if ranges and ranges[-1][1] == n - 1:
            ranges[-1][1] = n
        else:
            ranges.append([n, n])
    return ranges


def all_plans():
    return [Plan(code) for code in sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE)]


def _mask(lengths):
    return sum(1 << n for n in lengths if n < 16)


HEADER = """\
//! The numbering plans of the world, from Google's metadata {version}.
//!
//! Generated by `tests/phones/generate.py`: not to be edited. What the fields
//! mean is said where the types are declared.

use rlibphonenumber::Region;

use super::plan::{{CallingCode, Node}};

"""


def write(path, plans, version):
    nodes = Nodes()
    roots = [plan.roots(nodes) for plan in plans]
    with open(path, "w", encoding="utf-8") as out:
        out.write(HEADER.format(version=version))
        out.write("/// Every calling code, in ascending order.\n")
        out.write(f"pub(super) static CALLING_CODES: [CallingCode; {len(plans)}] = [\n")
        for plan, root in zip(plans, roots):
            out.write(_plan_text(plan, root))
        out.write("];\n\n/// Every decision node; the ones that a node refers to stand before it.\n")
        out.write(f"pub(super) static NODES: [Node; {len(nodes.places)}] = [\n")
        for children in nodes.places:
            out.write(f"    [{', '.join(map(str, children))}],\n")
        out.write("];\n")
    return nodes, roots


def _plan_text(plan, roots):
    regions = ", ".join(f"Region::{r}" for r in plan.regions if r != WORLD)
    beginnings = ", ".join(f"({low}, {high})" for low, high in plan.prefix_beginnings())
    padded = roots + [0xF] * (MAX_DIGITS - len(roots))
    assert UNKNOWN < 0xF
    padded = [UNKNOWN if r == 0xF else r for r in padded]
    return (
        f"    CallingCode {{ code: {plan.code}, regions: &[{regions}],\n"
        f"        possible_lengths: {_mask(plan.lengths):#b}, prefixed_lengths: {_mask(plan.prefix_lengths()):#b},\n"
        f"        usual_length: {plan.usual}, prefix_beginnings: &[{beginnings}],\n"
        f"        has_plain_zero: {str(plan.has_plain_zero()).lower()},\n"
        f"        roots: [{', '.join(map(str, padded))}] }},\n"
    )

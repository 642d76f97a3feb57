#!/usr/bin/env python3
"""Writes what the phone module takes from Google's metadata: see README.md."""
import os
import sys

# The directory holds what is committed and nothing else.
sys.dont_write_bytecode = True

import phonenumbers  # noqa: E402

import examples  # noqa: E402
import plans  # noqa: E402

# The metadata version of the Rust crate `rlibphonenumber` that the program uses.
VERSION = "9.0.42"
HERE = os.path.dirname(os.path.abspath(__file__))
PLANS = os.path.join(HERE, "..", "..", "src", "phone", "plans.rs")
EXAMPLES = os.path.join(HERE, "examples.csv")


def main():
    if phonenumbers.__version__ != VERSION:
        raise SystemExit(f"needs phonenumbers=={VERSION}, and this is {phonenumbers.__version__}")
    table = plans.all_plans()
    nodes, roots = plans.write(PLANS, table, VERSION)
    rows = examples.write(EXAMPLES, VERSION)
    deepest = max(nodes.depth(root) for per_length in roots for root in per_length)
    print(f"{len(table)} calling codes, {len(nodes.places)} nodes, at most {deepest} deep; {rows} examples")


if __name__ == "__main__":
    main()

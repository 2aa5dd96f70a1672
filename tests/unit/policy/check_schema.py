#!/usr/bin/env python3
"""Checks the shipped policies and tests/unit/policy/good against policies/policy.schema.json, and that each file in bad
fails it. usage: check_schema.py POLICIES GOOD BAD"""

import json
import pathlib
import sys

import jsonschema
import yaml


def load(file):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def yaml_files(directory):
    files = sorted(pathlib.Path(directory).glob("*.yaml"))
    if not files:
        sys.exit(f"no policy files in {directory}")
    return files


def main(policies, good, bad):
    schema = json.loads((pathlib.Path(policies) / "policy.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    wrong = 0
    for file in yaml_files(policies) + yaml_files(good):
        for error in validator.iter_errors(load(file)):
            wrong += 1
            print(f"{file}: {jsonschema.exceptions.best_match([error]).message} at {error.json_path}")
    for file in yaml_files(bad):
        if validator.is_valid(load(file)):
            wrong += 1
            print(f"{file}: fits the schema, and must not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))

#!/usr/bin/env python3
"""Compares recorded HTTP exchanges with an OpenAPI 3.1 document.

usage: openapi_check.py openapi.json recording.ndjson… [--every-operation]

Each line of the recording is one exchange: {"method", "path" (target as sent, or a template), "status",
"content_type", "request_body", "response_body", "request_headers" (optional)}. Checked are: the path and method are
documented (or the answer is a 4xx problem), the status is documented for the operation or an error, the media type is
documented, the response body is valid against its schema (each line of NDJSON, each event of an event stream), and a
JSON request that was accepted is valid against the request's schema. --every-operation also wants at least one
successful exchange of each operation. Prints each fault and a summary; exits 1 when there is a fault.
"""
import json
import re
import sys

from jsonschema import Draft202012Validator


class Document:
    def __init__(self, openapi):
        self.openapi = openapi
        self.templates = []
        for template in openapi["paths"]:
            # "{path}" is the one parameter that may hold slashes.
            pattern = re.escape(template).replace(r"\{path\}", "(.+)")
            pattern = re.sub(r"\\\{[a-z_]+\\\}", "([^/]+)", pattern)
            self.templates.append((template, re.compile(pattern + "$")))
        # Fixed paths before those with parameters.
        self.templates.sort(key=lambda pair: pair[0].count("{"))

    def find(self, path):
        path = path.split("?")[0]
        if path in self.openapi["paths"]:
            return path
        return next((template for template, pattern in self.templates if pattern.match(path)), None)

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            target = self.openapi
            for part in node["$ref"].lstrip("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            node = target
        return node

    def faults_of(self, schema, instance):
        # References point into the whole document, so it travels with the schema.
        validator = Draft202012Validator({**schema, "components": self.openapi["components"]})
        return [f"/{'/'.join(map(str, fault.absolute_path))}: {fault.message[:300]}"
                for fault in validator.iter_errors(instance)]


def media_of(content_type):
    return content_type.split(";")[0].strip().lower()


def instances_of(media, body):
    """The JSON values in a body of this media type, or None when it holds none."""
    if media in ("application/json", "application/problem+json"):
        return [json.loads(body)]
    if media == "application/x-ndjson":
        return [json.loads(line) for line in body.split("\n") if line]
    if media == "text/event-stream":
        return [json.loads(line[len("data: "):]) for line in body.split("\n") if line.startswith("data: ")]
    return None


def check_media(document, content, media, body, what):
    if media not in content:
        return [f"{what}: media type '{media}' is not documented ({', '.join(content)})"]
    try:
        instances = instances_of(media, body)
    except ValueError as error:
        return [f"{what}: not JSON: {error}"]
    faults = []
    for instance in instances or []:
        faults += [f"{what} {fault}" for fault in document.faults_of(content[media].get("schema", {}), instance)]
    return faults


def check_response(document, operation, exchange):
    status = str(exchange["status"])
    response = operation["responses"].get(status)
    if response is None and exchange["status"] < 400:
        return [f"status {status} is not documented"]
    response = document.resolve(response or operation["responses"]["default"])
    content = response.get("content")
    body = exchange["response_body"]
    if exchange["method"] == "HEAD":
        return []
    if not content:
        return [f"a body where none is documented: {body[:80]!r}"] if body else []
    return check_media(document, content, media_of(exchange["content_type"]), body, "response")


def check_request(document, operation, exchange):
    body = exchange.get("request_body")
    if not body or exchange["status"] >= 400:
        return []
    headers = {name.lower(): value for name, value in exchange.get("request_headers", {}).items()}
    media = media_of(headers.get("content-type", "application/json"))
    content = document.resolve(operation.get("requestBody", {})).get("content", {})
    if headers.get("transfer-encoding"):
        return []  # the recorded body is still in its chunks
    return check_media(document, content, media, body, "request")


def check_undocumented(document, exchange):
    """A path or method of nobody: only a problem (or the answer to OPTIONS) may come."""
    if exchange["method"] == "OPTIONS" and exchange["status"] == 204:
        return []
    if exchange["status"] < 400:
        return [f"status {exchange['status']} on what is not documented"]
    content = document.resolve(document.openapi["components"]["responses"]["Problem"])["content"]
    return check_media(document, content, media_of(exchange["content_type"]), exchange["response_body"], "response")


def check_exchange(document, exchange):
    """The operation (or None) and the faults of one exchange."""
    template = document.find(exchange["path"])
    method = "get" if exchange["method"] == "HEAD" else exchange["method"].lower()
    operation = document.openapi["paths"].get(template, {}).get(method) if template else None
    if operation is None or exchange["method"] != exchange["method"].upper():
        return None, check_undocumented(document, exchange)
    return operation, check_request(document, operation, exchange) + check_response(document, operation, exchange)


def exchanges_of(files):
    for name in files:
        with open(name, encoding="utf-8") as recording:
            for number, line in enumerate(recording, 1):
                yield name, number, json.loads(line)


def main(arguments):
    every_operation = "--every-operation" in arguments
    files = [argument for argument in arguments if not argument.startswith("--")]
    if len(files) < 2:
        sys.exit(__doc__)
    with open(files[0], encoding="utf-8") as file:
        document = Document(json.load(file))
    checked, faulty, succeeded = 0, 0, set()
    for name, number, exchange in exchanges_of(files[1:]):
        operation, faults = check_exchange(document, exchange)
        checked += 1
        faulty += bool(faults)
        if operation and exchange["status"] < 400:
            succeeded.add(operation["operationId"])
        for fault in faults:
            print(f"{name}:{number}: {exchange['method']} {exchange['path']} {exchange['status']}: {fault}")
    operations = {operation["operationId"] for item in document.openapi["paths"].values()
                  for method, operation in item.items() if method != "parameters"}
    missing = sorted(operations - succeeded) if every_operation else []
    for name in missing:
        print(f"no successful exchange of {name} was recorded")
    print(f"{checked} exchanges checked against {len(operations)} operations: {faulty} with faults, "
          f"{len(missing)} operations not seen")
    return 1 if faulty or missing or not checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

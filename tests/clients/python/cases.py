"""What every script of cases shares: a case is a function; each is run and told as a JSON line."""

import json
import sys
import traceback

CASES = {}


def case(run):
    CASES[run.__name__] = run
    return run


def raised(kind, run):
    """The error of this very kind that run() raises."""
    try:
        run()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def main(connect):
    """Prints the names of the cases for `--list`; else runs each with what connect() gave."""
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return
    client = connect()
    for name, run in CASES.items():
        try:
            run(client)
            print(json.dumps({"case": name, "ok": True, "detail": ""}), flush=True)
        except Exception:
            print(json.dumps({"case": name, "ok": False, "detail": traceback.format_exc()}), flush=True)

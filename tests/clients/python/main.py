"""Runs the cases named by its arguments, `python-SDK::UPSTREAM::SCENARIO`, against the gateway at BENCH_URL.

Each outcome is told as a JSON line: {"case": …, "ok": …, "detail": …}. Cases run at once, and one that hangs is
given up: nothing here may wait for ever. The collections they ask are made by tests/tests/clients/members.rs.
"""

import json
import os
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

import scenarios
import sdk_anthropic
import sdk_genai
import sdk_ollama
import sdk_openai

AT_ONCE = 8
# Longer than any SDK's own timeout, so that theirs is seen first.
PATIENCE_S = 45

SDKS = {
    "openai-chat": sdk_openai.Chat,
    "openai-responses": sdk_openai.Responses,
    "openai-completions": sdk_openai.Completions,
    "anthropic": sdk_anthropic.Anthropic,
    "genai": sdk_genai.GenAi,
    "ollama": sdk_ollama.Chat,
    "ollama-generate": sdk_ollama.Generate,
}


def main(names):
    parts = {name: name.split("::") for name in names}
    sdks = {sdk: connect(sdk) for sdk, _, _ in parts.values()}

    def run(name):
        sdk, upstream, scenario = parts[name]
        # What an SDK plays beside the others is its own method.
        play = scenarios.ALL.get(scenario)
        told = ["it hung: no end after %d s" % PATIENCE_S]

        def attempt():
            try:
                if play:
                    play(scenarios.Case(sdks[sdk], "chat" if upstream == "any" else upstream, name))
                else:
                    getattr(sdks[sdk], scenario)()
                told[0] = ""
            except BaseException:
                told[0] = traceback.format_exc()

        thread = threading.Thread(target=attempt, daemon=True)
        thread.start()
        thread.join(PATIENCE_S)
        print(json.dumps({"case": name, "ok": not told[0], "detail": told[0]}), flush=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(run, names))


def connect(sdk):
    return SDKS[sdk.removeprefix("python-")](os.environ["BENCH_URL"])


main(sys.argv[1:])

"""Asks the proxy a few questions, and shows which of them it had answered before.

python ask.py [--url http://127.0.0.1:4000]
"""

from __future__ import annotations

import argparse
import os
import sys
import time

import openai

QUESTIONS = [
    "How do I reset my password?",
    "How do I reset my password?",
    "How can I reset my password?",
    "How do I reset my router?",
    "如何重置我的密码？",
    "怎样重置我的密码？",
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:4000")
    url = parser.parse_args().url
    client = openai.OpenAI(base_url=url, api_key=os.environ["LITELLM_MASTER_KEY"])
    print(f"{'reason':16}{'similarity':>12}{'confidence':>12}   question")
    for question in QUESTIONS:
        time.sleep(0.5)  # LiteLLM stores an answer after it has sent it
        answer = client.chat.completions.with_raw_response.create(
            model="gpt-4o-mini", messages=[{"role": "user", "content": question}]
        )
        said = answer.headers
        print(
            f"{said.get('x-semcache-reason', '-'):16}"
            f"{said.get('x-litellm-semantic-similarity', '-'):>12}"
            f"{said.get('x-semcache-confidence', '-'):>12}   {question}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

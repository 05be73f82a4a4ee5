#!/usr/bin/env bash
# Starts a LiteLLM proxy with the cache and asks it a few questions. It runs until you press Ctrl-C;
# with --once it ends after the questions. PYTHON names an interpreter that has everything installed.
set -euo pipefail
cd "$(dirname "$0")"

if [[ -z "${PYTHON:-}" ]]; then
  PYTHON=.venv/bin/python
  if [[ ! -x "$PYTHON" ]]; then
    echo "installing into examples/litellm_proxy/.venv, a minute or two the first time …"
    python3 -m venv .venv
    "$PYTHON" -m pip install --quiet "../..[local,litellm-proxy]"
  fi
fi

PORT="${PORT:-4000}"
# The proxy refuses keys that everybody knows, so this one is made up for each run.
export LITELLM_MASTER_KEY="${LITELLM_MASTER_KEY:-sk-$("$PYTHON" -c 'import secrets; print(secrets.token_hex(16))')}"
export OPENAI_API_KEY="${OPENAI_API_KEY:-not-needed-with-mock_response}"

"$(dirname "$PYTHON")/litellm" --config config.yaml --host 127.0.0.1 --port "$PORT" > proxy.log 2>&1 &
PROXY=$!
trap 'kill "$PROXY" 2>/dev/null; wait "$PROXY" 2>/dev/null || true' EXIT

echo "starting the proxy on http://127.0.0.1:$PORT (log: examples/litellm_proxy/proxy.log) …"
until curl --silent --fail "http://127.0.0.1:$PORT/health/liveliness" > /dev/null; do
  kill -0 "$PROXY" 2>/dev/null || { tail -n 20 proxy.log; exit 1; }
  sleep 0.5
done

"$PYTHON" ask.py --url "http://127.0.0.1:$PORT"
[[ "${1:-}" == "--once" ]] && exit 0
echo
echo "Ask it yourself; the key is $LITELLM_MASTER_KEY. Ctrl-C ends it."
wait "$PROXY"

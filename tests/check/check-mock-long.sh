#!/usr/bin/env bash
# Every fault of duplex mock through duplex call.
set -euo pipefail
timeout 900 python3 "$(dirname "$(realpath "$0")")/mock-call.py"

#!/usr/bin/env bash
# All that tools/check-tidy leaves out by itself: clang's analyzer.
set -euo pipefail
ANALYZE=1 exec "${SOURCE:-$(dirname "$0")/../..}/tools/check-tidy"

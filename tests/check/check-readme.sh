#!/usr/bin/env bash
# The first screen of the README tells the whole story, its programs are the examples, and its tables
# are short.
set -euo pipefail
readme=$SOURCE/README.md
failed=0
complain() { echo "$1"; failed=1; }

screen=$(head -n 40 "$readme")
for text in '**Duplex runs, watches, tests and embeds programs that speak JSON-RPC over stdio' 'Without it, ' \
    '    ./dev run ' '    ./dev test ' 'Linux 5.11 or later' '$ build/duplex mcp tools call ' \
    '$ build/duplex call -p lsp -o talk.jsonl ' '$ build/duplex timeline talk.jsonl ' '$ build/duplex check -p mcp ' \
    '](docs/timeline.png)' ': [Hermes]' ': [Reginald]' ': [FineCode]' ': [MCP]' ': [Autohand]'; do
    grep -qF -- "$text" <<<"$screen" || complain "the first 40 lines lack: $text"
done
(($(wc -L < <(grep -v '^!' <<<"$screen")) <= 100)) || complain "the first 40 lines are wider than 100 columns"

# rows HEADING: of the table below it.
rows() { sed -n "/^## $1/,/^## /p" "$readme" | grep -c '^| [^-]'; }
(($(rows 'What is inside') - 1 <= 10)) || complain "'What is inside' has $(rows 'What is inside') rows"
# Each column of the comparison has an explanation.
for tool in 'MCP Inspector' mcp-cli lsp-devtools vscode-jsonrpc jsonrpc-glib; do
    grep -qF "[$tool]: https://" "$readme" || complain "the comparison lacks $tool"
    grep -qF "| $tool |" "$SOURCE/docs/comparison.md" || complain "docs/comparison.md lacks $tool"
done

for example in echo:14 host:24; do
    file=$SOURCE/examples/${example%:*}.c
    lines=$(wc -l <"$file")
    ((lines == ${example#*:})) || complain "$file has $lines lines"
    # shellcheck disable=SC2016 # backticks of Markdown
    sed -n "/^\[examples\/${example%:*}\.c\]/,/^\`\`\`\$/p" "$readme" | sed '1,/^```c$/d; /^```$/d' | cmp - "$file" ||
        complain "the README does not show ${file#"$SOURCE"/}"
done

# The figures of the comparison are those of docs/performance.md.
figure() { grep -oE "^\| $1 .*" "$SOURCE/docs/performance.md" | head -n 1; }
[[ $(figure duplex) == *' 4.09 M/s '* && $(figure vscode-jsonrpc) == *' 49.8 k/s '* && $(figure jsonrpc-glib) == *' 8.91 k/s '* ]] ||
    complain "docs/performance.md has other figures than the README"
grep -qF '| requests per second | 4,090,000 | | | | 49,800 | 8,910 |' "$readme" || complain "the README has other figures"
exit $failed

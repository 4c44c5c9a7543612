#include "headlight/kinds/text_to_image_model.h"

#include <cstddef>

#include "headlight/base/error.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/ops/linear.h"

namespace headlight {

ops::Weight TextToImageModel::TextWeight(Context& /*context*/) const {
  Fail("{}: this model reads texts and does not predict them: it can be neither trained nor evaluated",
       parameters_.source());
}

Tensor TextToImageModel::TextBias(Context& context) const { return TextWeight(context).value; }

void TextToImageModel::CheckText(std::span<const std::int32_t> text) const {
  Check(std::ssize(text) <= drawing_.text_positions, "a text has {} tokens, and the model reads at most {}",
        text.size(), drawing_.text_positions);
  for (std::size_t i = 0; i < text.size(); ++i)
    Check(text[i] >= 0 && text[i] < drawing_.text_vocabulary, "id {} at position {} of a text: the vocabulary has {}",
          text[i], i, drawing_.text_vocabulary);
}

namespace {

// Returns rows [begin, begin + count) of each sequence, [batch, count, columns].
Tensor PartOfEach(const Tensor& rows, const Padded& tokens, std::int64_t begin, std::int64_t count) {
  const Tensor part = Tensor::Empty({tokens.batch, count, rows.columns()});
  for (std::int64_t b = 0; b < tokens.batch; ++b)
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(rows.matrix<float>().row(b * tokens.length + begin + i), rows.columns(),
                  part.matrix<float>().row(b * count + i));
  return part;
}

}  // namespace

NamedTensors TextToImageModel::Forward(const Safetensors& in) const {
  CheckInputs(in, {"input_ids", "codes"});
  const Drawing& drawing = this->drawing();
  const Tensor ids = ReadIntegers(in, "input_ids");
  const Tensor codes = in.contains("codes") ? ReadIntegers(in, "codes") : Tensor();
  const std::int64_t batch = ids.shape()[0], drawn = codes.empty() ? 0 : codes.shape()[1];
  Check(ids.shape()[1] <= drawing.text_positions,
        "{}: input_ids has texts of {} tokens, and the model reads at most {}", in.path(), ids.shape()[1],
        drawing.text_positions);
  Check(codes.empty() || (codes.shape()[0] == batch && drawn < drawing.grid.cells()),
        "{}: codes has the shape {}, and must be [batch, codes], here {} by at most {}, all but the last", in.path(),
        ToString(codes.shape()), batch, drawing.grid.cells() - 1);
  Padded tokens = {.batch = batch,
                   .length = drawing.prompt + drawn,
                   .ids = {},
                   .sequences = {},
                   .begin = std::vector<std::int64_t>(static_cast<std::size_t>(batch))};
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::vector<std::int32_t> prompt =
        Prompt({ids.matrix<std::int32_t>().row(b), static_cast<std::size_t>(ids.shape()[1])});
    tokens.sequences.push_back(
        {static_cast<std::int32_t>(tokens.ids.size()), static_cast<std::int32_t>(tokens.length)});
    tokens.ids.insert(tokens.ids.end(), prompt.begin(), prompt.end());
    if (drawn > 0)
      tokens.ids.insert(tokens.ids.end(), codes.matrix<std::int32_t>().row(b),
                        codes.matrix<std::int32_t>().row(b) + drawn);
  }
  NamedTensors out;
  Context context;
  const auto part = [&](std::int64_t length) {
    return Padded{.batch = batch, .length = length, .ids = {}, .sequences = {}, .begin = tokens.begin};
  };
  context.hooks.attention = [&, texts = part(drawing.prompt), images = part(drawn + 1)](const LayerAttention& seen) {
    if (drawing.encodes_text) return out.AddAttention(seen, texts, images);
    out.AddAttention("attentions", seen, tokens, tokens);
  };
  const Tensor hidden = Decode(context, tokens.ids, tokens.sequences);
  const std::int64_t last_word = drawing.prompt - 1;  // the first code is generated after this token
  const Tensor of_codes = PartOfEach(hidden, tokens, last_word, drawn + 1);
  out.tensors["last_hidden_state"] = hidden.ViewAs({batch, tokens.length, hidden.columns()});
  if (!drawing.encodes_text)
    out.tensors["text_logits"] =
        ops::Linear(PartOfEach(hidden, tokens, 0, last_word), TextWeight(context), TextBias(context));
  out.tensors["logits"] = Logits(context, of_codes);
  return out;
}

}  // namespace headlight

// headlight forward: the raw model, from tensors to tensors under Hugging Face's names, to check a conversion.
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/in_file.h"
#include "headlight/cli/commands/model_argument.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/io/safetensors.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/models/family.h"

namespace headlight::forward {
namespace {

struct Options {
  std::string folder, in, out;
};

void Run(const Options& options) {
  CheckOutputs({{"--out", options.out}}, {options.folder, options.in});
  const Safetensors in(Input(options.in));
  const std::unique_ptr<const Model> model = LoadModel(options.folder);
  const Progress progress("running the model");
  const NamedTensors out = InFile(in.path(), [&] { return model->Forward(in); });
  std::vector<StoredTensor> stored;
  for (const auto& [name, tensor] : out.tensors) stored.push_back(Stored(name, tensor));
  WriteSafetensors(options.out, std::move(stored));
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "forward", "Run the model on a file of tensors", Run);
  AddModel(command, options.folder, "The model's folder, or an .npz file of AlphaFold 2");
  command.Add("IN", options.in, "Safetensors file with the inputs; - is standard input").Required().Check(NotEmpty());
  command.AddFile("--out", options.out, "Safetensors file to write the outputs to").Required();
  command.footer =
      "\nInputs are integers [batch, length]: input_ids, and optionally attention_mask (1 for tokens, 0 for padding\n"
      "before or after them) and decoder_input_ids with decoder_attention_mask; for an encoder alone token_type_ids.\n"
      "Without a mask every token counts. An encoder of images reads pixel_values, numbers [batch, channels, "
      "height,\n"
      "width] as its processor gives them, and optionally bool_masked_pos [batch, patches], 1 for masked patches; a\n"
      "detector pixel_values and optionally pixel_mask [batch, height, width], 1 for pixels, 0 for padding; CLIP and "
      "SigLIP\n"
      "pixel_values, input_ids or both. A ViLBERT\n"
      "reads input_ids and, beside each text, the regions of an image: image_feat [batch, regions, features], "
      "image_loc\n"
      "[batch, regions, 5] and optionally image_attention_mask and task_ids [batch, 1]; an LXMERT visual_feats,\n"
      "visual_pos [batch, regions, 4] and optionally visual_attention_mask, a VisualBERT visual_embeds, that and\n"
      "visual_token_type_ids;\n"
      "a ViLT pixel_values and optionally pixel_mask, 1 in whole patches from the top left;\n"
      "a model of captions pixel_values and input_ids or decoder_input_ids, the caption, and one that answers both,\n"
      "the question and the answer. A coder of\n"
      "images reads pixel_values, from 0 to 1, or codes [batch, rows, columns]; a DALL-E input_ids, its texts, and\n"
      "optionally codes [batch, codes]; an AlphaFold OpenFold's features, each with a last axis of the passes: "
      "aatype,\n"
      "residue_index, target_feat, msa_feat, and optionally msa_mask, extra_msa with extra_has_deletion and\n"
      "extra_deletion_value, and template_aatype, template_pseudo_beta, template_pseudo_beta_mask,\n"
      "template_all_atom_mask, template_torsion_angles_sin_cos, template_alt_torsion_angles_sin_cos,\n"
      "template_torsion_angles_mask and template_mask; one trained with --covariation also covariation\n"
      "[residues, residues, 2, passes]; an ESMFold input_ids, which number residues' types, and optionally\n"
      "attention_mask, position_ids and num_recycles [1].\n\n"
      "Outputs are float32, under Hugging Face's names: encoder_last_hidden_state and encoder_attentions.LAYER, and "
      "with\n"
      "decoder_input_ids logits, decoder_last_hidden_state, decoder_attentions.LAYER and cross_attentions.LAYER; for\n"
      "an encoder alone last_hidden_state, attentions.LAYER, and where the model has them pooler_output, logits,\n"
      "start_logits, end_logits and seq_relationship_logits; for a GPT or ImageGPT last_hidden_state, "
      "attentions.LAYER\n"
      "and logits; for an encoder of images last_hidden_state, attentions.LAYER, and where the model has them\n"
      "pooler_output, logits, DeiT's cls_logits and distillation_logits, and reconstruction; for a detector logits, "
      "pred_boxes, pred_masks if it has them,\n"
      "last_hidden_state, encoder_last_hidden_state and all three attentions; for CLIP and SigLIP logits_per_image,\n"
      "logits_per_text, and of each tower image_embeds, vision_last_hidden_state, vision_pooler_output,\n"
      "vision_attentions.LAYER and text_embeds, text_last_hidden_state, and so on (of a model of one tower without\n"
      "the tower's name); for a\n"
      "ViLBERT its authors' names, sequence_output_t and _v, pooled_output_t and _v, those of its heads, and\n"
      "attentions_t.LAYER (text), attentions_v.LAYER (image), attentions_tv.LAYER (from text to image) and\n"
      "attentions_vt.LAYER; for an LXMERT language_output, vision_output, pooled_output, those of its heads,\n"
      "language_attentions.LAYER, vision_attentions.LAYER, cross_encoder_attentions.LAYER (from text to image) and\n"
      "vision_cross_attentions.LAYER; for a VisualBERT or ViLT last_hidden_state and attentions.LAYER of text and\n"
      "image together, and those of its heads; for a model of captions those of an encoder, the image's, and a "
      "decoder, "
      "and\n"
      "of what it reads last_hidden_state, attentions.LAYER, text_cross_attentions.LAYER, and where the model has them "
      "itm_score,\n"
      "image_embeds and text_embeds, of length 1, logits_per_image and logits_per_text; for a discrete VAE logits and "
      "codes, or pixel_values; for a\n"
      "DALL-E last_hidden_state, attentions.LAYER, text_logits, and logits of the drawn codes and the next one; for a\n"
      "DALL-E mini these logits, last_hidden_state and all three attentions;\n"
      "for an AlphaFold OpenFold's names: msa, pair, single, final_atom_positions, final_atom_mask, plddt, the heads'\n"
      "logits (lddt_logits and so on), and of the structure module's last block sm.single, sm.frames, sm.positions "
      "and\n"
      "sm.angles; for an ESMFold all of EsmForProteinFoldingOutput, with integers as I32 and a ptm for each chain.\n"
      "Layers count from 0. Outputs at padding are zero. A sentence's positions count from its first token, so "
      "that\n"
      "padding on the left changes nothing; where Transformers counts them from the first column, as for BERT, so "
      "does\n"
      "this. T5 1.0's decoder_last_hidden_state is scaled by model^-0.5, as its output layer reads it.\n\n"
      "Example:\n"
      "  headlight forward model inputs.safetensors --out outputs.safetensors";
}

}  // namespace headlight::forward

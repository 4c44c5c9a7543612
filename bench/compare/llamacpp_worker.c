// The llama.cpp side of llamacpp_generating, which uses llama.cpp's library.
//
//   llamacpp_worker quantize FROM.gguf TO.gguf q8_0|q4_0|q4_0_pure
//   llamacpp_worker generate MODEL.gguf PROMPTS BATCH LENGTH THREADS SECONDS FLASH f16|f32
//
// PROMPTS has one prompt per line: ids separated by spaces. All prompts have the same length. Batches of BATCH prompts
// are processed. The prefill gives the first token of each prompt, and LENGTH more tokens are generated greedily.
// Batches are repeated until SECONDS have passed, and until every line was processed at least once. FLASH is 1 for
// flash attention. The last argument is the type of the cache of keys and values. Prints one JSON object with the
// seconds of the prefill and of the decoding of each batch, and with the generated ids.
#include <llama.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void Quiet(enum ggml_log_level level, const char* text, void* data) {
  (void)data;
  if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void Fail(const char* what) {
  fprintf(stderr, "llamacpp_worker: %s\n", what);
  exit(1);
}

static int Quantize(char** arguments) {
  struct llama_model_quantize_params params = llama_model_quantize_default_params();
  params.ftype = strcmp(arguments[2], "q8_0") == 0 ? LLAMA_FTYPE_MOSTLY_Q8_0 : LLAMA_FTYPE_MOSTLY_Q4_0;
  params.pure = strcmp(arguments[2], "q4_0_pure") == 0;
  return (int)llama_model_quantize(arguments[0], arguments[1], &params);
}

static llama_token Likeliest(const float* logits, int vocabulary) {
  int best = 0;
  for (int word = 1; word < vocabulary; ++word)
    if (logits[word] > logits[best]) best = word;
  return best;
}

static void Add(struct llama_batch* batch, llama_token word, int position, int text, bool wants_logits) {
  const int row = batch->n_tokens++;
  batch->token[row] = word;
  batch->pos[row] = position;
  batch->n_seq_id[row] = 1;
  batch->seq_id[row][0] = text;
  batch->logits[row] = wants_logits;
}

// Reads all lines of the file: `*count` prompts of `*length` ids.
static llama_token* ReadPrompts(const char* path, int* count, int* length) {
  FILE* file = fopen(path, "r");
  if (file == NULL) Fail("cannot read the prompts");
  llama_token* ids = NULL;
  size_t ids_read = 0;
  *count = 0;
  char* line = NULL;
  size_t room = 0;
  while (getline(&line, &room, file) > 0) {
    ++*count;
    char* at = line;
    for (;;) {
      char* end;
      const long id = strtol(at, &end, 10);
      if (end == at) break;
      ids = realloc(ids, (ids_read + 1) * sizeof *ids);
      ids[ids_read++] = (llama_token)id;
      at = end;
    }
  }
  free(line);
  fclose(file);
  if (*count == 0 || ids_read % (size_t)*count != 0) Fail("prompts of different lengths");
  *length = (int)(ids_read / (size_t)*count);
  return ids;
}

static int Generate(char** arguments) {
  int prompts, prompt_length;
  llama_token* const ids = ReadPrompts(arguments[1], &prompts, &prompt_length);
  const int texts = atoi(arguments[2]), length = atoi(arguments[3]), threads = atoi(arguments[4]);
  const double seconds = atof(arguments[5]);
  const bool flash = atoi(arguments[6]) != 0, f32 = strcmp(arguments[7], "f32") == 0;

  struct llama_model* model = llama_model_load_from_file(arguments[0], llama_model_default_params());
  if (model == NULL) Fail("cannot load the model");
  struct llama_context_params params = llama_context_default_params();
  params.n_ctx = (uint32_t)(texts * ((prompt_length + length + 255) / 256 * 256));
  params.n_batch = (uint32_t)(texts * prompt_length > 512 ? texts * prompt_length : 512);
  params.n_seq_max = (uint32_t)texts;
  params.n_threads = params.n_threads_batch = threads;
  params.flash_attn_type = flash ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.type_k = params.type_v = f32 ? GGML_TYPE_F32 : GGML_TYPE_F16;
  params.kv_unified = false;
  struct llama_context* context = llama_init_from_model(model, params);
  if (context == NULL) Fail("cannot make a context");
  const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
  struct llama_batch batch = llama_batch_init(texts * prompt_length, 0, 1);
  llama_token* written = malloc((size_t)prompts * (size_t)(length + 1) * sizeof *written);
  if (written == NULL || prompts % texts != 0) Fail("prompts that are no whole batches");

  double* read_seconds = NULL;
  double* continued_seconds = NULL;
  int rounds = 0;
  double begin = 0;
  for (int turn = -1;; ++turn) {  // the first run is a warm-up
    const int first = turn < 0 ? 0 : turn * texts % prompts;
    if (turn == 0) begin = Now();
    if (turn * texts >= prompts && Now() - begin > seconds) break;
    llama_memory_clear(llama_get_memory(context), true);
    const double at_begin = Now();
    batch.n_tokens = 0;
    for (int text = 0; text < texts; ++text)
      for (int i = 0; i < prompt_length; ++i)
        Add(&batch, ids[(first + text) * prompt_length + i], i, text, i == prompt_length - 1);
    if (llama_decode(context, batch) != 0) Fail("llama_decode");
    for (int text = 0; text < texts; ++text)
      written[(first + text) * (length + 1)] =
          Likeliest(llama_get_logits_ith(context, (text + 1) * prompt_length - 1), vocabulary);
    const double at_middle = Now();
    for (int step = 0; step < length; ++step) {
      batch.n_tokens = 0;
      for (int text = 0; text < texts; ++text)
        Add(&batch, written[(first + text) * (length + 1) + step], prompt_length + step, text, true);
      if (llama_decode(context, batch) != 0) Fail("llama_decode");
      for (int text = 0; text < texts; ++text)
        written[(first + text) * (length + 1) + step + 1] = Likeliest(llama_get_logits_ith(context, text), vocabulary);
    }
    if (turn < 0) continue;
    read_seconds = realloc(read_seconds, (size_t)(rounds + 1) * sizeof *read_seconds);
    continued_seconds = realloc(continued_seconds, (size_t)(rounds + 1) * sizeof *continued_seconds);
    read_seconds[rounds] = at_middle - at_begin;
    continued_seconds[rounds++] = Now() - at_middle;
  }

  const char* comma = "";
  printf("{\"read\": [");
  for (int i = 0; i < rounds; ++i, comma = ", ") printf("%s%.6f", comma, read_seconds[i]);
  comma = "";
  printf("], \"continued\": [");
  for (int i = 0; i < rounds; ++i, comma = ", ") printf("%s%.6f", comma, continued_seconds[i]);
  printf("], \"texts\": [");
  for (int text = 0; text < prompts; ++text) {
    printf(text == 0 ? "[" : ", [");
    for (int i = 0; i <= length; ++i) printf(i == 0 ? "%d" : ", %d", written[text * (length + 1) + i]);
    printf("]");
  }
  printf("]}\n");
  return 0;
}

int main(int count, char** arguments) {
  llama_log_set(Quiet, NULL);
  llama_backend_init();
  if (count == 5 && strcmp(arguments[1], "quantize") == 0) return Quantize(arguments + 2);
  if (count == 10 && strcmp(arguments[1], "generate") == 0) return Generate(arguments + 2);
  Fail("see its first lines");
}

// Encodes a text in the browser, by all-MiniLM-L6-v2 in 8 bits: its unit vector.
import * as ort from "./ort.wasm.min.mjs";
import { Tokenizer } from "./tokenizers.min.mjs";

const LONGEST = 256; // word pieces that the model reads
ort.env.wasm.numThreads = 1; // more need headers that a plain server does not send
let parts;

async function load() {
  const fetched = (name) => fetch(new URL(name, import.meta.url));
  const tokenizer = new Tokenizer(await (await fetched("tokenizer.json")).json(), {});
  const weights = await (await fetched("model.onnx")).arrayBuffer();
  return [tokenizer, await ort.InferenceSession.create(new Uint8Array(weights))];
}

export async function vectorOf(text) {
  const [tokenizer, session] = await (parts ??= load());
  let { ids } = tokenizer.encode(text);
  if (ids.length > LONGEST) ids = [...ids.slice(0, LONGEST - 1), ids.at(-1)];
  const row = (values) =>
    new ort.Tensor("int64", BigInt64Array.from(values, BigInt), [1, ids.length]);
  const known = {
    input_ids: row(ids),
    attention_mask: row(ids.map(() => 1)),
    token_type_ids: row(ids.map(() => 0)),
  };
  const inputs = Object.fromEntries(session.inputNames.map((name) => [name, known[name]]));
  const { data, dims } = (await session.run(inputs))[session.outputNames[0]];
  const vector = new Float32Array(dims[2]); // the sum of those of the word pieces
  data.forEach((value, place) => { vector[place % dims[2]] += value; });
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

// The official client for JavaScript against a running server; prints what it got as one line of JSON.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: process.env.API_KEY, maxRetries: 0 });
const asked = { model: "acme/talker", messages: [{ role: "user", content: "Hello" }] };
const got = { models: [] };
for await (const model of client.models.list()) got.models.push(model.id);
const { data, response } = await client.chat.completions.create(asked).withResponse();
got.whole = data.choices[0].message.content;
got.requestId = data._request_id === response.headers.get("x-request-id");
got.streamed = "";
const stream = await client.chat.completions.create({ ...asked, stream: true, stream_options: { include_usage: true } });
for await (const chunk of stream) {
  got.streamed += chunk.choices[0]?.delta?.content ?? "";
  got.tokens = chunk.usage?.total_tokens ?? got.tokens;
}
got.helper = (await client.chat.completions.stream(asked).finalChatCompletion()).choices[0].message.content;
const once = { headers: { "Idempotency-Key": "from-javascript" } };
const first = await client.chat.completions.create(asked, once);
got.replayed = first.id === (await client.chat.completions.create(asked, once)).id;
got.errors = [];
for (const wrong of [{ ...asked, model: "acme/none" }, { ...asked, n: 2 }]) {
  try {
    await client.chat.completions.create(wrong);
  } catch (error) {
    got.errors.push([error.constructor.name, error.code, error.param]);
  }
}
console.log(JSON.stringify(got));

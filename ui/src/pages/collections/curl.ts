/** A line that asks the collection from a shell; with a key where one is required. */
export function curl(base: string, collection: string, key = ''): string {
  const body = { model: `bench/${collection}`, messages: [{ role: 'user', content: 'Say hello' }] };
  const signed = key ? ` -H 'authorization: Bearer ${key}'` : '';
  return `curl ${base}/chat/completions${signed} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
}

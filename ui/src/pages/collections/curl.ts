/** A line that asks the collection from a shell. */
export function curl(base: string, collection: string): string {
  const body = { model: `bench/${collection}`, messages: [{ role: 'user', content: 'Say hello' }] };
  return `curl ${base}/chat/completions -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
}

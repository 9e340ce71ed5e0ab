export default {
  input: process.env.DESCRIPTION_URL,
  output: { path: 'sdk', module: { extension: '.js' } },
  plugins: [
    '@hey-api/client-fetch',
    '@hey-api/typescript',
    { name: '@hey-api/transformers', bigInt: true }, // an int64 is a bigint
    '@hey-api/sdk',
  ],
}

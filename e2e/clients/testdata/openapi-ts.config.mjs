export default {
  input: process.env.DESCRIPTION_URL,
  parser: { transforms: { enums: 'root' } }, // an inline enum is a type
  output: { path: 'sdk', module: { extension: '.js' } },
  plugins: [
    '@hey-api/client-fetch',
    { name: '@hey-api/typescript', enums: 'javascript' }, // and an object with its values
    { name: '@hey-api/transformers', bigInt: true }, // an int64 is a bigint
    '@hey-api/sdk',
  ],
}

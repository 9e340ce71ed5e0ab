// Writes plants.ts from the description, with an int64 as a bigint, and with an enum for error.
import { writeFileSync } from 'node:fs'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const types = await openapiTS(new URL(process.env.DESCRIPTION_URL), {
  enum: true,
  transform: schema =>
    schema.format === 'int64' ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword) : undefined,
})
writeFileSync('plants.ts', astToString(types))

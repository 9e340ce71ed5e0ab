import createClient from 'openapi-fetch'
import { ErrorError, type components, type paths } from './plants.js'

type NewPlant = components['schemas']['NewPlant']

const client = createClient<paths>({
  baseUrl: process.env.BASE_URL!,
  headers: { Authorization: `Bearer ${process.env.TOKEN}` },
  // JSON.stringify does not take a bigint.
  bodySerializer: (body: unknown) => {
    const { id, ...plant } = body as NewPlant
    return `{"id":${id},${JSON.stringify(plant).slice(1)}`
  },
})

async function create(plant: NewPlant) {
  const { data, error, response } = await client.POST('/plants', { body: plant })
  switch (error?.error) {
    case undefined:
      console.log(response.status, data?.name, data?.tag)
      break
    case ErrorError.Conflict: // 409
    case ErrorError.UnprocessableContent: // 422
      console.log(response.status, error?.error, error?.message)
      break
    default:
      throw new Error(error?.message)
  }
}

await create({ id: 9007199254740993n, name: 'Welwitschia mirabilis', tag: 'long-lived' })
await create({ id: 9007199254740993n, name: 'Welwitschia mirabilis', tag: 'long-lived' })
await create({ id: -9223372036854775808n, name: 'Wolffia arrhiza' })
await create({ id: 9223372036854775808n, name: 'too great' })
// @ts-expect-error: an id that could have been rounded is refused by the compiler.
await create({ id: 1, name: 'a number is taken all the same' })

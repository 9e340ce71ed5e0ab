import { createPlant, ErrorError, type NewPlant } from './plants.js'

async function create(plant: NewPlant) {
  const { data, status } = await createPlant(plant, { headers: { Authorization: `Bearer ${process.env.TOKEN}` } })
  if (status === 200) {
    console.log(status, data.name, data.tag)
  } else if (data.error === ErrorError.Conflict) {
    console.log(status, data.error, data.message)
  }
}

await create({ id: 1, name: 'Monstera', tag: 'climber' })
await create({ id: 1, name: 'Monstera', tag: 'climber' })

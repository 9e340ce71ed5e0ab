import os
import requests

def create(plant):
    response = requests.post(os.environ["BASE_URL"] + "/plants", json=plant, timeout=30,
                           headers={"Authorization": "Bearer " + os.environ["TOKEN"]})
    if response.status_code == 200:
        print(200, response.json()["name"], response.json().get("tag"))
    else:
        print(response.status_code, response.json()["error"], response.json()["message"])

create({"id": 9007199254740993, "name": "Welwitschia mirabilis", "tag": "long-lived"})
create({"id": 9007199254740993, "name": "Welwitschia mirabilis", "tag": "long-lived"})
create({"id": -9223372036854775808, "name": "Wolffia arrhiza"})

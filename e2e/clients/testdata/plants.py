import os
import requests

def create(plant):
    answer = requests.post(os.environ["BASE_URL"] + "/plants", json=plant, timeout=30,
                           headers={"Authorization": "Bearer " + os.environ["TOKEN"]})
    if answer.status_code == 200:
        print(200, answer.json()["name"], answer.json().get("tag"))
    else:
        print(answer.status_code, answer.json()["error"], answer.json()["message"])

create({"id": 9007199254740993, "name": "Welwitschia mirabilis", "tag": "long-lived"})
create({"id": 9007199254740993, "name": "Welwitschia mirabilis", "tag": "long-lived"})
create({"id": -9223372036854775808, "name": "Wolffia arrhiza"})

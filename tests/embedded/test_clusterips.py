from quorate.api.meta import Json
from quorate.embedded.clusterips import ServiceAddresses
from quorate.embedded.defaults import default
from quorate.embedded.store import Key, Store


class World:
    def __init__(self) -> None:
        self.store = Store()
        self.addresses = ServiceAddresses(self.store)

    def create(self, name: str, **spec: object) -> Json:
        made = service(name, **spec)
        assert self.addresses.assign(made) == []
        return self.store.create(Key("", "services", "default", name), made)


def service(name: str, **spec: object) -> Json:
    typed = {"kind": "Service", "apiVersion": "v1", "metadata": {"name": name}}
    return default("", "Service", {**typed, "spec": {"ports": [{"port": 80}], **spec}})


def test_services_get_addresses_and_give_them_back() -> None:
    world = World()
    first, second = world.create("a")["spec"], world.create("b", type="NodePort")["spec"]
    assert first["clusterIP"] != second["clusterIP"]
    assert first["clusterIPs"] == [first["clusterIP"]]
    assert second["ports"][0]["nodePort"] == 30000
    wish = service("c", clusterIP=first["clusterIP"])
    assert "already allocated" in world.addresses.assign(wish)[0].message
    world.store.delete(Key("", "services", "default", "a"))
    assert world.addresses.assign(wish) == []


def test_a_restart_knows_what_is_held() -> None:
    world = World()
    held = world.create("a")["spec"]["clusterIP"]
    again = service("b")
    ServiceAddresses(world.store).assign(again)
    assert again["spec"]["clusterIP"] != held


def test_a_headless_service_keeps_none() -> None:
    assert World().create("a", clusterIP="None")["spec"]["clusterIPs"] == ["None"]


def test_an_update_keeps_address_and_ports() -> None:
    world = World()
    old = world.create("a", type="NodePort")
    new = service("a", type="NodePort")
    assert world.addresses.assign(new, old) == []
    assert new["spec"]["clusterIP"] == old["spec"]["clusterIP"]
    assert new["spec"]["ports"] == old["spec"]["ports"]


def test_a_new_address_for_one_that_is_held_is_left_to_validation() -> None:
    world = World()
    old = world.create("a")
    assert world.addresses.assign(service("a", clusterIP="192.168.0.1"), old) == []


def test_an_external_name_has_no_address() -> None:
    world = World()
    old = world.create("a")
    new = service("a", type="ExternalName", externalName="example.com", clusterIP=old["spec"]["clusterIP"])
    assert world.addresses.assign(new, old) == []
    assert "clusterIP" not in new["spec"]


def test_a_wish_outside_the_range_is_refused() -> None:
    [cause] = World().addresses.assign(service("a", clusterIP="192.168.0.1"))
    assert "not in the valid range" in cause.message
    [cause] = World().addresses.assign(service("a", clusterIP="nonsense"))
    assert cause.message.endswith("must be empty, 'None', or a valid IP address")

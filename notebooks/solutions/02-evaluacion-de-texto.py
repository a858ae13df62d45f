# Soluciones de los ejercicios, y respuestas que parecen buenas pero no lo son.
# Cada celda usa los nombres que define el cuaderno.

# %% 1 solution
def success_at_1(relevance):
    return float((np.asarray(relevance)[:, 0] > 0).mean())


# Nunca es mayor que el MRR, puesto que cada acierto en la primera posición aporta 1 a
# los dos. Un sí o un no por consulta es una medida poco fina: hacen falta más
# consultas para distinguir dos búsquedas.


# %% 1 wrong
# Eso es el *hit rate*: un acierto en la segunda posición también cuenta.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).any(axis=1).mean())


# %% 1 wrong
# Vale para sí y no, pero un grado 2 cuenta el doble.
def success_at_1(relevance):
    return float(np.asarray(relevance)[:, 0].mean())


# %% 1 wrong
# Todos los resultados, y no solo los primeros.
def success_at_1(relevance):
    return float((np.asarray(relevance) > 0).mean())


# %% 1 wrong
# La primera consulta, y no el primer resultado de cada una.
def success_at_1(relevance):
    return float((np.asarray(relevance)[0] > 0).mean())


# %% 2 solution
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "mejor" if low > 0 else "peor" if high < 0 else "no se puede decir"


# Con la respuesta × 3 la media es más alta, y el intervalo contiene el 0. Eso no prueba
# que sean iguales. Si nada más habla en favor de la configuración nueva, quédate con la
# de antes.


# %% 2 wrong
# Una media más alta no es mejor mientras el intervalo contenga el 0.
def verdict(new, old, queries):
    return "mejor" if (new - old).mean() > 0 else "peor"


# %% 2 wrong
# Que no haya diferencia significativa no significa que sean iguales.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "mejor" if low > 0 else "peor" if high < 0 else "iguales"


# %% 2 wrong
# Consulta a consulta: las de una misma necesidad no son independientes, así que se
# fía demasiado.
def verdict(new, old, queries):
    low, high = intervals.confidence_interval(new - old, range(len(queries)))
    return "mejor" if low > 0 else "peor" if high < 0 else "no se puede decir"


# %% 3 solution
may_say = [True, False, False, True]

# La segunda habla de cualquier boost, y solo se ha medido uno; además habla de la
# gente, y las consultas las escribió un modelo. La tercera toma dos cifras cercanas
# por la misma: nadie ha calculado el intervalo de su diferencia, y que no haya
# diferencia significativa tampoco significaría que son iguales.


# %% 3 wrong
# Un boost malo no hace malos a todos.
may_say = [True, True, False, True]


# %% 3 wrong
# Dos cifras cercanas no son la misma.
may_say = [True, False, True, True]


# %% 1 check
rng = np.random.default_rng(0)
inputs = [[np.array([[2, 1], [0, 1], [0, 0], [0, 1]])]]
inputs += [[rng.integers(0, 3, size=(n, 4))] for n in range(3, 20)]
hint = "Cuenta los primeros resultados con un grado mayor que 0: un 2 es un acierto."
said = "con {given} da {mine}, y lo correcto es {right}"
exercises.compare(success_at_1, solution["success_at_1"], inputs, hint, said)
print("El MRR de las cuatro filas es 1/2.")


# %% 2 check
right = solution["verdict"]
rng, inputs = np.random.default_rng(0), []
for gain_of_all, by_need, n_needs in [
    *[(0.05, 0.02, 150), (-0.05, 0.02, 150), (0.0, 0.02, 150)],
    *[(0.04, 0.3, 12), (-0.04, 0.3, 12), (0.4, 0.2, 12), (-0.4, 0.2, 12)],
]:
    need = rng.integers(0, n_needs, size=300)
    gains = rng.normal(gain_of_all, by_need, n_needs)[need]
    before = pd.Series(rng.random(300))
    after = before + gains + rng.normal(0, 0.02, 300)
    inputs.append([after, before, pd.DataFrame({"need": need})])
hint = "Lo dice el intervalo de new menos old, por necesidades enteras"
said = "da {mine}, y lo correcto es {right}"
exercises.compare(verdict, right, inputs, hint, said)


# %% 2 shows
colleague = utils.minsearch_search(index, {"text": 3.0}, k=10)
colleague = utils.score(typed, utils.run_search(typed, colleague, 10))["ndcg"]
old = values["judged"]["minsearch, sin boost"]
mine = verdict(colleague, old, typed)
print(f"Con la respuesta × 3: {mine}.")


# %% 3 check
right = solution["may_say"]
reasons = [
    "su intervalo en las consultas tecleadas queda entero por debajo de 0",
    "solo se midió un boost, y las consultas las escribió un modelo",
    "dos cifras cercanas no prueban que sean iguales, y falta el intervalo",
    "los dos intervalos en las preguntas generadas quedan muy separados",
]
mine = [*may_say]
please = "cuatro veces True o False, por favor"
is_asked = len(mine) == 4 and all(each in (True, False) for each in mine)
assert is_asked, please
for number, reason in enumerate(reasons):
    assert mine[number] == right[number], f"revisa la {number + 1}: {reason}"
print("Dos de ellas van más allá de las cifras.")

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
def hit_rate_by_course(ground_truth, search_function):
    rates = {}
    for course in {question["course"] for question in ground_truth}:
        of_course = [q for q in ground_truth if q["course"] == course]
        rates[course] = evaluate(of_course, search_function)["hit_rate"]
    return rates


# Una búsqueda puede ser buena en el curso con más preguntas e inútil en otro. Una sola
# cifra para todos no lo deja ver.


# %% 2 wrong
# Dividido por las preguntas de todos los cursos: uno pequeño parece malo.
def hit_rate_by_course(ground_truth, search_function):
    rates = {}
    for question in ground_truth:
        found = [document["id"] for document in search_function(question)]
        hit = question["document"] in found
        course = question["course"]
        rates[course] = rates.get(course, 0) + hit / len(ground_truth)
    return rates


# %% 2 wrong
# Solo el primer resultado, y no todos los encontrados.
def hit_rate_by_course(ground_truth, search_function):
    rates = {}
    for course in {question["course"] for question in ground_truth}:
        of_course = [q for q in ground_truth if q["course"] == course]
        first = [search_function(q)[0]["id"] == q["document"] for q in of_course]
        rates[course] = sum(first) / len(first)
    return rates


# %% 2 wrong
# El MRR: un documento en la segunda posición es un acierto como cualquier otro.
def hit_rate_by_course(ground_truth, search_function):
    rates = {}
    for course in {question["course"] for question in ground_truth}:
        of_course = [q for q in ground_truth if q["course"] == course]
        rates[course] = evaluate(of_course, search_function)["mrr"]
    return rates


# %% 3 solution
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "mejor" if low > 0 else "peor" if high < 0 else "no se sabe"


# Si el intervalo contiene el 0, no está probado que sean iguales. Si nada más habla en
# favor de la configuración nueva, quédate con la de antes.


# %% 3 wrong
# Una media más alta no es mejor mientras el intervalo contenga el 0.
def verdict(new, old, queries):
    return "mejor" if (new - old).mean() > 0 else "peor"


# %% 3 wrong
# Que no haya diferencia significativa no significa que sean iguales.
def verdict(new, old, queries):
    groups = intervals.groups_of(queries)
    low, high = intervals.confidence_interval(new - old, groups)
    return "mejor" if low > 0 else "peor" if high < 0 else "iguales"


# %% 3 wrong
# Consulta a consulta: las de una misma necesidad no son independientes.
def verdict(new, old, queries):
    low, high = intervals.confidence_interval(new - old, range(len(queries)))
    return "mejor" if low > 0 else "peor" if high < 0 else "no se sabe"

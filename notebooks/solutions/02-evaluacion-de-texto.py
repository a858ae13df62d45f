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
def halves(questions):
    documents = np.random.default_rng(1).permutation(questions["document"].unique())
    mine = questions["document"].isin(documents[: len(documents) // 2])
    return questions[mine], questions[~mine]


# Ningún documento debe estar en los dos lados. Cada curso sí, con más o menos la
# misma proporción. Una segunda ejecución debe dar las mismas mitades. Aquí las da
# mientras los documentos sean los mismos: con uno más, la semilla los baraja todos de
# otra manera. `corpus.split_by_document` usa un *hash* del id del documento, así que
# uno nuevo no mueve a ningún otro. `GroupShuffleSplit` de scikit-learn sortea grupos
# con una semilla, como aquí. Si una persona hace varias consultas, reparte por
# persona.


# %% 2 wrong
# Se sortean preguntas, y unas tres de cada cuatro tienen una hermana al otro lado.
def halves(questions):
    shuffled = questions.sample(frac=1, random_state=1)
    return shuffled[::2], shuffled[1::2]


# %% 2 wrong
# Documentos enteros, pero la primera mitad del archivo: otro curso que la segunda.
def halves(questions):
    documents = questions["document"].unique()
    mine = questions["document"].isin(documents[: len(documents) // 2])
    return questions[mine], questions[~mine]


# %% 2 wrong
# Cada curso está en los dos lados, pero con su primera mitad en uno: otras semanas,
# otros temas.
def halves(questions):
    documents = questions.drop_duplicates("document")
    place = documents.groupby("course").cumcount()
    size = documents.groupby("course")["document"].transform("size")
    mine = questions["document"].isin(documents["document"][place < size / 2])
    return questions[mine], questions[~mine]


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
